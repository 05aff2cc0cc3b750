"""The statistics of `weigh gate`: from block differences to a verdict. See the section "The gate" of docs/method.md."""
