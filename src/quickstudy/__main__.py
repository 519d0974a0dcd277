"""`python -m quickstudy`: the same as the command `quickstudy`."""

from quickstudy.cli.main import main

if __name__ == "__main__":
    main()
