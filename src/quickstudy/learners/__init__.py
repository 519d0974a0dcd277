"""What is examined: cores with a head and a way of training, and host learners."""
