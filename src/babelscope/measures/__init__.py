"""What is measured on encoders without tuning them. A measure loads nothing and stores nothing."""
