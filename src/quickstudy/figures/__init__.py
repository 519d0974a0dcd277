"""Pictures of tasks, one file for each kind of trace that runs leave."""
