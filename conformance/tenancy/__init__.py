"""What a member of a team may do, and what not: the platform's rights, quota, priorities and defaults for team-a."""
