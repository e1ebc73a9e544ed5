# The dateline command: one file a subcommand.
