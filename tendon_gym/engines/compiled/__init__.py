"""An engine of our own for contact-free flight, in time linear in the number of links."""
