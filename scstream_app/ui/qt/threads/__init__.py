"""Work on other threads: workers, queues of jobs, mailboxes."""
