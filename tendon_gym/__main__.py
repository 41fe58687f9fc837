"""`python -m tendon_gym`: the command line."""

import sys

from tendon_gym.cli import main

if __name__ == "__main__":
    sys.exit(main())
