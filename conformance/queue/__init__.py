"""What Kueue promises: gangs, priorities, cohorts, retries, and quotas that hold for every kind of job."""
