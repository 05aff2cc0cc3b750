"""Model providers: at which endpoint a model is asked, how request and answer look there, what a failure means."""
