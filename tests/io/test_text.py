"""Files that may be anything: refused with a clear error, and before they are read."""

import os
import tracemalloc
import warnings

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fieldcraft import errors
from fieldcraft.io import _text, boardfile, megamek, movingai

MapError = errors.MapError
READERS = {
    ".board": megamek.read,
    ".map": movingai.read,
    ".scen": movingai.read_scenario,
    ".toml": boardfile.read,
}


@pytest.fixture(params=READERS)
def suffix(request):
    return request.param


def refused(suffix, path, match):
    """Read the file with the reader for its suffix, which must refuse it; return the message."""
    with pytest.raises(MapError, match=match) as caught:
        READERS[suffix](path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert "\n" not in message
    return message


def test_missing_file(tmp_path, suffix):
    refused(suffix, tmp_path / f"no{suffix}", "there is no such file; expected a ")


def test_folder(tmp_path, suffix):
    path = tmp_path / f"folder{suffix}"
    path.mkdir()
    refused(suffix, path, "is a folder; expected a ")


@pytest.mark.parametrize(
    "content", [b"", b"\n", b" \r\n\t\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n"]
)
def test_empty_file(tmp_path, suffix, content):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(content)
    refused(suffix, path, "is empty; expected a ")


def test_binary_file(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    refused(suffix, path, r"is a binary file \(byte 8 is zero\)")
    path.write_bytes(b"type octile\n\x1b[31m")
    refused(suffix, path, r"line 2: is a binary file \(it has the control character 0x1b\)")


def test_utf16(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_text("type octile\n", encoding="utf-16")
    refused(suffix, path, "is UTF-16 text")


def test_text_that_is_no_utf8(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"first\nsecond \xfc\n")
    if suffix == ".board":
        refused(suffix, path, "line 1: unknown keyword 'first'")
    else:
        refused(suffix, path, "line 2: byte 0xfc is no UTF-8 text")


def test_huge_sparse_file_is_refused_at_once(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.touch()
    os.truncate(path, 200_000_000)
    tracemalloc.start()
    try:
        refused(suffix, path, "has 200,000,000 bytes; .* at most 67,108,864")
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_limit_is_a_parameter(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_text("size 1 1\n" * 10, encoding="utf-8")
    with pytest.raises(MapError, match=r"has 90 bytes; .* at most 89"):
        READERS[suffix](path, max_bytes=89)
    with pytest.raises(MapError, match=r"line|key|TOML"):
        READERS[suffix](path, max_bytes=90)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_named_pipe(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    os.mkfifo(path)
    refused(suffix, path, "is not a regular file")


def test_unreadable_file(tmp_path, suffix, monkeypatch):
    path = tmp_path / f"a{suffix}"

    def refuse(*args):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(_text.os, "open", refuse)
    refused(suffix, path, r"cannot be read \(Permission denied\); expected a ")


def test_impossible_names(tmp_path, suffix):
    with pytest.raises(MapError, match="cannot be read"):
        READERS[suffix]("a\0b")
    with pytest.raises(MapError, match="cannot be read"):
        READERS[suffix](tmp_path / ("a" * 5000))


@pytest.mark.parametrize("path", [None, 3, b"bytes", ["list"]])
def test_what_is_no_path(suffix, path):
    with pytest.raises(errors.ArgumentTypeError, match="path must be text or a path, not "):
        READERS[suffix](path)


def test_file_that_grows_while_it_is_read(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    path.write_text("0123456789", encoding="utf-8")
    status = os.stat(path)
    path.write_text("0123456789" * 2, encoding="utf-8")
    monkeypatch.setattr(_text.os, "fstat", lambda handle: status)
    with pytest.raises(MapError, match="grew beyond 10 bytes"):
        _text.read_text(path, "text", max_bytes=10)


def test_line_ends_and_byte_order_mark(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("\ufeffa\r\nb\rc\nü".encode())
    assert _text.read_text(path, "text") == "a\nb\nc\nü"


def test_fallback_encoding(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"K\xf6ln\n")
    assert _text.read_text(path, "text", fallback="latin-1") == "Köln\n"
    path.write_text("Köln\n", encoding="utf-8")
    assert _text.read_text(path, "text", fallback="latin-1") == "Köln\n"


def test_long_text_is_cut_in_messages():
    assert _text.shown("short") == "'short'"
    assert _text.shown("x" * 100) == repr("x" * 40) + "..."


GOOD = {
    ".board": 'size 2 1\nhex 0101 -1 "woods:1:09;smoke:2" "grass"\nhex 0201 0 "" ""\nend\n',
    ".map": "type octile-corner\nheight 2\nwidth 3\nmap\n012\n345\n.gW\nSTO\n",
    ".scen": "version 1\n1\tx.map\t9\t9\t0\t0\t4\t4\t5.65685\n0 x.map 9 9 0 0 1 0 1\n",
    ".toml": 'lattice = \'odd-r\'\nrules = \'hexwild\'\nlight = -1\nrows = """\n.F\n"""\n'
    "elevation = [[1, 2.5]]\nside_relations = [['a', 'b', 'foe']]\n[parameters]\n"
    "threshold = 3\n[legend]\n'.' = 'open'\nF = ['mud', 'fog:2']\n[[tokens]]\nname = 'x'\n"
    "cell = [0, 1]\nspeed = { walk = '9 m' }\n[[borders]]\ncells = [[0, 0], [0, 1]]\n"
    "kind = 'wall'\n",
}
PIECES = st.one_of(
    st.binary(max_size=3),
    st.sampled_from(
        (b"-", b"99", b"1e999", b"nan", b'"', b"\n", b"[", b"{", b"\xff", b"\xe2\x80\xa8")
    ),
)
DAMAGE = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 12), PIECES), min_size=1, max_size=4
)


@given(st.sampled_from(sorted(GOOD)), DAMAGE)
@example(".board", [])
@example(".map", [])
@example(".scen", [])
@example(".toml", [])
def test_any_damage_is_answered_by_a_clear_error(tmp_path_factory, suffix, damage):
    """Whatever becomes of a good file, it is read or refused: nothing else is ever raised."""
    data = GOOD[suffix].encode()
    for place, n_bytes, piece in damage:
        start = int(place * len(data))
        data = data[:start] + piece + data[start + n_bytes :]
    path = tmp_path_factory.getbasetemp() / f"damaged{suffix}"
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", _text.FieldcraftWarning)
        try:
            READERS[suffix](path)
        except (MapError, errors.RulesError) as error:
            if not damage:
                raise
            if path.name not in str(error):
                raise AssertionError("the error does not name the file") from error
