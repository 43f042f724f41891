"""What a report says of the models between tuned ones: lines, planes, and what they are good for."""
