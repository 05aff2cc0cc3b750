"""What a run would cost, take and be able to show, rehearsed offline."""
