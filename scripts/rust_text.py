"""Rust sources as tokens and modules, for `check-layers`: which module names which.

Text and tokens, not a compiler: a path built by a macro escapes it.
"""

import functools
import re

# A comment or a literal, of block comments and raw strings only the start: what ends them is counted.
SKIPPED = re.compile(r"""//[^\n]*|(?P<block>/\*)|(?<!\w)(?:br|cr|r)(?P<raw>#*)"|"(?:[^"\\]|\\.)*(?:"|\Z)"""
                     r"""|'(?:\\(?:u\{[^}]*\}|x..|.)|[^\\'])'""", re.S)


def block_comment(source, start):
    """Where the comment at `start` ends, with those inside of it."""
    depth = 0
    for match in re.compile(r"/\*|\*/").finditer(source, start):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    return len(source)


def strip(source):
    """`source` with comments and literals blanked out, line by line the same."""
    out, at = [], 0
    while match := SKIPPED.search(source, at):
        out.append(source[at:match.start()])
        at = match.end()
        if match.group("block"):
            at = block_comment(source, match.start())
        elif match.group("raw") is not None:
            closing = '"' + match.group("raw")
            end = source.find(closing, at)
            at = len(source) if end < 0 else end + len(closing)
        out.append(re.sub(r"[^\n]", " ", source[match.start():at]))
    out.append(source[at:])
    return "".join(out)


@functools.lru_cache(maxsize=None)
def tokens(source):
    """(text, line number) of every token outside comments and literals."""
    line, result = 1, []
    for match in re.finditer(r"\n|[A-Za-z_]\w*|::|[^\s\w]|\d\w*", strip(source)):
        if match.group() == "\n":
            line += 1
        else:
            result.append((match.group(), line))
    return result


def without_tests(toks):
    """The tokens without items under `#[cfg(test)]` or `#[cfg(all(test, ...))]`, and the names of the modules dropped with them."""
    out, dropped, i = [], set(), 0
    while i < len(toks):
        if "".join(t for t, _ in toks[i:i + 7]) in ("#[cfg(test)]", "#[cfg(all(test"):
            while toks[i][0] != "]":
                i += 1
            i += 1
            depth, start = 0, i
            while i < len(toks):
                text = toks[i][0]
                depth += text in "([{"
                depth -= text in ")]}"
                i += 1
                if depth == 0 and text in ";}":
                    break
            item = [t for t, _ in toks[start:i]]
            if "mod" in item:
                dropped.add(item[item.index("mod") + 1])
        else:
            out.append(toks[i])
            i += 1
    return out, dropped


def paths(toks, i):
    """Every path of the (possibly grouped) path that starts at token `i`, and where it ends.

    Each comes as (segments, the name it goes by from here on).
    """
    segments = []
    while i < len(toks):
        text = toks[i][0]
        if text == "{":
            i += 1
            found = []
            while i < len(toks) and toks[i][0] != "}":
                if toks[i][0] == ",":
                    i += 1
                    continue
                inner, nxt = paths(toks, i)
                if nxt == i:
                    nxt += 1
                found += [(segments + p, name) for p, name in inner]
                i = nxt
            return found, i + 1
        if not (re.match(r"[A-Za-z_]", text) or text == "*"):
            break
        segments.append(text)
        i += 1
        if i < len(toks) and toks[i][0] == "::" and i + 1 < len(toks) and toks[i + 1][0] != "<":
            i += 1
            continue
        break
    name = segments[-1] if segments else ""
    if name == "self" and len(segments) > 1:
        segments = segments[:-1]
        name = segments[-1]
    if i + 1 < len(toks) and toks[i][0] == "as":
        name = toks[i + 1][0]
        i += 2
    return [(segments, name)], i


def inline_modules(toks, path):
    """Splits the tokens of a file: (module path, its own tokens) of the file and each `mod x { ... }` in it."""
    own, parts, i = [], [], 0
    while i < len(toks):
        if toks[i][0] == "mod" and i + 2 < len(toks) and toks[i + 2][0] == "{":
            depth, end = 1, i + 3
            while end < len(toks) and depth:
                depth += toks[end][0] == "{"
                depth -= toks[end][0] == "}"
                end += 1
            parts += inline_modules(toks[i + 3:end - 1], path + (toks[i + 1][0],))
            i = end
        else:
            own.append(toks[i])
            i += 1
    return [(path, own)] + parts


class Module:
    """A module of the library: its path, file, tokens and imported names."""

    def __init__(self, path, file, toks):
        self.path = path
        self.file = file
        self.toks = toks
        self.imports = {}
        for i, (text, _) in enumerate(self.toks):
            if text == "use":
                for segments, name in paths(self.toks, i + 1)[0]:
                    self.imports[name] = segments


def load_modules(files):
    """`files`: (name relative to src/, source). Test modules and their parts are left out."""
    modules, tests = {}, set()
    # The root of a crate without a library is its program's.
    root = "lib" if any(file == "lib.rs" for file, _ in files) else "main"
    for file, source in files:
        path = re.sub(rf"(^|/)mod$|^{root}$", "", file.removesuffix(".rs"))
        path = tuple(p for p in path.split("/") if p)
        toks, dropped = without_tests(tokens(source))
        tests |= {path + (name,) for name in dropped}
        for inner, own in inline_modules(toks, path):
            modules[inner] = Module(inner, file, own)
    return {p: m for p, m in modules.items() if not any(p[:len(t)] == t for t in tests)}


def resolve(modules, start, segments, depth=0):
    """The module that defines the path `segments` as written in module `start`."""
    at = start
    for k, segment in enumerate(segments):
        if segment == "crate":
            at = ()
        elif segment == "super":
            at = at[:-1]
        elif segment == "self":
            pass
        elif at + (segment,) in modules:
            at = at + (segment,)
        else:
            target = modules[at].imports.get(segment)
            # `use` of another crate resolves to nothing here and stays.
            if target and depth < 16 and (target[0] in ("crate", "super", "self") or at + (target[0],) in modules):
                return resolve(modules, at, target + segments[k + 1:], depth + 1)
            break
    return at


def imports(modules, path):
    """The modules that module `path` names: by `crate`, `super` and `self`, as a part of its own, or as imported."""
    module = modules[path]
    found = {}
    for i, (text, line) in enumerate(module.toks):
        before = module.toks[i - 1][0] if i else ""
        after = module.toks[i + 1][0] if i + 1 < len(module.toks) else ""
        if before in ("::", "in") or after != "::":
            continue
        known = module.imports.get(text, ())
        if text in ("crate", "super", "self"):
            start = []
        elif path + (text,) in modules:
            start = ["self"]
        elif known and known[0] in ("crate", "super", "self"):
            start = list(known[:-1])
        else:
            continue
        for segments, _ in paths(module.toks, i)[0]:
            target = resolve(modules, path, list(start) + list(segments))
            if target and target != path:
                found.setdefault(target, line)
    return found
