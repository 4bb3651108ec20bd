"""What can be asked on the command line: commands, options and their help.

Reading the arguments is kept apart from answering: a command returns the call that answers it.
Typer is imported when it is needed, so the annotations must be real objects, not text.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypeAlias

__all__ = ["command"]

Todo: TypeAlias = Callable[[], int]


def command() -> Any:
    """Return the command ``fieldcraft`` with its subcommands."""
    import typer

    from fieldcraft.cli import _commands, _encounters, _rules
    from fieldcraft.cli._who import Who

    look: dict[str, Any] = {
        "add_completion": False,
        "pretty_exceptions_enable": False,
        "rich_markup_mode": "rich" if sys.stdout.isatty() else None,
        "context_settings": {"help_option_names": ["-h", "--help"]},
    }
    app = typer.Typer(**look)

    Map: TypeAlias = Annotated[
        str, typer.Argument(metavar="MAP", help="A .board, .map or .toml file.", show_default=False)
    ]
    Rules: TypeAlias = Annotated[
        str | None,
        typer.Option(
            "--rules",
            metavar="NAME",
            help="Rule system or .toml file of rules, in place of the map's own.",
        ),
    ]
    From: TypeAlias = Annotated[
        str,
        typer.Option(
            "--from",
            metavar="CELL",
            help="Where from: row,col from 0, or the board's number (0305).",
            show_default=False,
        ),
    ]
    To: TypeAlias = Annotated[
        str, typer.Option("--to", metavar="CELL", help="Where to.", show_default=False)
    ]
    Budget: TypeAlias = Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="AMOUNT",
            help="What may be spent: 6, '9 m', '30 ft', '6 sq', inf.",
        ),
    ]
    Parity: TypeAlias = Annotated[
        int,
        typer.Option(
            "--parity",
            metavar="N",
            help="Diagonals made before in this movement.",
        ),
    ]
    Light: TypeAlias = Annotated[
        int | None,
        typer.Option(
            "--light", metavar="N", help="Light malus of the target, 0 or less; else the map's."
        ),
    ]
    Radius: TypeAlias = Annotated[
        int, typer.Option("--radius", metavar="N", help="How far to look, in cells.")
    ]
    Size: TypeAlias = Annotated[
        str | None,
        typer.Option(
            "--size", metavar="SIZE", help="Its size: tiny, small, medium, large, huge, gargantuan."
        ),
    ]
    Speed: TypeAlias = Annotated[
        str | None,
        typer.Option(
            "--speed",
            metavar="AMOUNT",
            help="Its speed: 6, '9 m'; or several: 'walk=9 m,fly=18 m'.",
        ),
    ]
    Mode: TypeAlias = Annotated[
        str | None,
        typer.Option(
            "--mode",
            metavar="MODE",
            help="It moves in this way alone: walk, swim, climb, burrow, or fly from the air.",
        ),
    ]
    Prone: TypeAlias = Annotated[bool, typer.Option("--prone", help="It lies on the ground.")]
    Tokens: TypeAlias = Annotated[
        str | None,
        typer.Option(
            "--tokens", metavar="FILE", help="A TOML file of tokens, in place of the map's own."
        ),
    ]
    Json: TypeAlias = Annotated[
        bool, typer.Option("--json", help="Print one JSON object instead of text.")
    ]
    Plot: TypeAlias = Annotated[
        str | None,
        typer.Option("--plot", metavar="FILE", help="Draw it: .png, .svg or .pdf."),
    ]

    def version(wanted: bool) -> None:
        if wanted:
            from fieldcraft import __version__

            print(f"fieldcraft {__version__}")
            raise typer.Exit

    @app.callback(invoke_without_command=True)
    def top(
        context: typer.Context,
        version: Annotated[
            bool,
            typer.Option(
                "--version", help="Print the version and leave.", callback=version, is_eager=True
            ),
        ] = False,
    ) -> None:
        """Movement and sight on battle maps, exactly by the rules of the game."""
        if context.invoked_subcommand is None:
            print(context.get_help())
            raise typer.Exit

    @app.command()
    def demo(plot: Plot = None) -> Todo:
        """Play one turn of a small skirmish, on a map that comes along."""
        return partial(_commands.demo, plot=plot)

    @app.command()
    def reach(
        map_: Map,
        from_: From,
        budget: Budget = None,
        parity: Parity = 0,
        size: Size = None,
        speed: Speed = None,
        mode: Mode = None,
        prone: Prone = False,
        tokens: Tokens = None,
        rules: Rules = None,
        json: Json = False,
        plot: Plot = None,
    ) -> Todo:
        """Tell which cells a creature gets to, and at what price.

        Who stands on the cell moves, else a Medium creature. Without a budget its speed holds,
        and without a speed there is no limit.
        """
        who = Who(size, speed, mode, prone, tokens)
        return partial(
            _commands.reach, map_, rules, from_, budget, who, parity=parity, json=json, plot=plot
        )

    @app.command()
    def path(
        map_: Map,
        from_: From,
        to: To,
        budget: Budget = None,
        parity: Parity = 0,
        size: Size = None,
        speed: Speed = None,
        mode: Mode = None,
        prone: Prone = False,
        tokens: Tokens = None,
        rules: Rules = None,
        json: Json = False,
        plot: Plot = None,
    ) -> Todo:
        """Find a cheapest path, and tell what each step costs and why.

        Exits with 1 where there is no way. Without a budget there is no limit.
        """
        who = Who(size, speed, mode, prone, tokens)
        return partial(
            _commands.path, map_, rules, from_, to, budget, who, parity=parity, json=json, plot=plot
        )

    @app.command()
    def sight(
        map_: Map,
        from_: From,
        to: To,
        light: Light = None,
        size: Size = None,
        speed: Speed = None,
        mode: Mode = None,
        prone: Prone = False,
        tokens: Tokens = None,
        rules: Rules = None,
        json: Json = False,
        plot: Plot = None,
    ) -> Todo:
        """Tell whether one cell is seen from another, and with which malus."""
        who = Who(size, speed, mode, prone, tokens)
        return partial(
            _commands.sight, map_, rules, from_, to, who, light=light, json=json, plot=plot
        )

    @app.command()
    def view(
        map_: Map,
        from_: From,
        radius: Radius = 20,
        light: Light = None,
        size: Size = None,
        speed: Speed = None,
        mode: Mode = None,
        prone: Prone = False,
        tokens: Tokens = None,
        rules: Rules = None,
        json: Json = False,
        plot: Plot = None,
    ) -> Todo:
        """Tell everything that is seen from one cell."""
        who = Who(size, speed, mode, prone, tokens)
        return partial(
            _commands.view, map_, rules, from_, radius, who, light=light, json=json, plot=plot
        )

    @app.command()
    def verify(
        map_: Map,
        scenario: Annotated[
            str, typer.Argument(metavar="SCEN", help="A .scen file.", show_default=False)
        ],
        json: Json = False,
    ) -> Todo:
        """Check a MovingAI scenario against its published lengths.

        Every row is compared at the precision the file was printed with. Exits with 1 where one
        differs.
        """
        return partial(_commands.verify, map_, scenario, json=json)

    @app.command()
    def warmup() -> Todo:
        """Compile the kernels beforehand, which takes a minute or so, once.

        They are kept on disk; whatever is asked afterwards finds them compiled.
        """
        return _commands.warmup

    crowds = typer.Typer(**look)
    app.add_typer(crowds, name="encounters")

    @crowds.callback(invoke_without_command=True)
    def top_of_encounters(context: typer.Context) -> None:
        """Make very many encounters, analyse them, and sum them up."""
        if context.invoked_subcommand is None:
            print(context.get_help())
            raise typer.Exit

    @crowds.command()
    def generate(
        count: Annotated[
            int,
            typer.Option("--count", metavar="N", help="How many to make.", show_default=False),
        ],
        seed: Annotated[
            int,
            typer.Option(
                "--seed", metavar="S", help="The same seed makes the same.", show_default=False
            ),
        ],
        out: Annotated[
            str,
            typer.Option(
                "--out", metavar="FILE", help="A .parquet or .jsonl file.", show_default=False
            ),
        ],
        board: Annotated[
            list[str] | None,
            typer.Option(
                "--board",
                metavar="FILE",
                help="A board to fight on, again for each further one; else they are made up.",
            ),
        ] = None,
        tokens: Annotated[
            int | None, typer.Option("--tokens", metavar="K", help="So many tokens in each.")
        ] = None,
        rules: Rules = None,
        json: Json = False,
    ) -> Todo:
        """Make random encounters, and write them with their boards."""
        return partial(
            _encounters.generate,
            count,
            seed,
            out,
            board or (),
            rules=rules,
            tokens=tokens,
            json=json,
        )

    @crowds.command()
    def analyse(
        file: Annotated[
            str,
            typer.Argument(
                metavar="FILE",
                help="A .parquet or .jsonl file of encounters.",
                show_default=False,
            ),
        ],
        out: Annotated[
            str,
            typer.Option(
                "--out", metavar="DIR", help="The folder for the tables.", show_default=False
            ),
        ],
        workers: Annotated[
            int | None,
            typer.Option("--workers", metavar="N", help="So many at a time; else one a core."),
        ] = None,
        part_size: Annotated[
            int | None, typer.Option("--part-size", metavar="N", help="Encounters in a part.")
        ] = None,
        on_error: Annotated[
            str,
            typer.Option(
                "--on-error",
                metavar="WHAT",
                help="With a bad row: reject sets it aside, raise ends the run.",
            ),
        ] = "reject",
        json: Json = False,
    ) -> Todo:
        """Analyse the encounters of a file into tables.

        They tell who reaches, sees and attacks what. A run that was cut off goes on where it
        stopped when it is started again.
        """
        return partial(
            _encounters.analyse,
            file,
            out,
            workers=workers,
            part_size=part_size,
            on_error=on_error,
            json=json,
        )

    @crowds.command()
    def summary(
        folder: Annotated[
            str, typer.Argument(metavar="DIR", help="The folder of a run.", show_default=False)
        ],
        json: Json = False,
        plot: Plot = None,
    ) -> Todo:
        """Tell what the encounters of a run are like.

        Who sees first, how long the first shot is, how exposed the starts are, and more.
        """
        return partial(_encounters.summary, folder, json=json, plot=plot)

    systems = typer.Typer(**look)
    app.add_typer(systems, name="rules")

    @systems.callback(invoke_without_command=True)
    def top_of_rules(context: typer.Context) -> Todo | None:
        """List the rule systems, show one, or count the tests of each rule."""
        return None if context.invoked_subcommand else partial(_rules.systems, json=False)

    @systems.command("list")
    def list_(json: Json = False) -> Todo:
        """List the rule systems."""
        return partial(_rules.systems, json=json)

    @systems.command()
    def show(
        name: Annotated[
            str,
            typer.Argument(
                metavar="NAME", help="A rule system, or a .toml file of rules.", show_default=False
            ),
        ],
        json: Json = False,
    ) -> Todo:
        """Show the terrains of a system, its borders and its parameters."""
        return partial(_rules.show, name, json=json)

    @systems.command()
    def coverage(
        tests: Annotated[bool, typer.Option("--tests", help="Name the tests.")] = False,
        json: Json = False,
    ) -> Todo:
        """Count the tests that prove each numbered rule, in a source checkout.

        Exits with 1 where a rule has none, and with 2 where there is no source checkout.
        """
        return partial(_rules.coverage, tests=tests, json=json)

    return typer.main.get_command(app)
