# Renders templates with Python's jinja2 as transformers does, for python_test.go: reads a JSON list of [template,
# variables] and prints a JSON list of [text, error]. With "wide" as its argument it allows what package jinja allows besides: lists
# may be appended to, from_json is a filter, a generator becomes JSON as a list, and nothing is escaped.
import json, sys, types
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment
import jinja2, jinja2.ext


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        next(parser.stream)
        return parser.parse_statements(["name:endgeneration"], drop_needle=True)


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    if wide and isinstance(x, types.GeneratorType):
        x = list(x)
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def refuse(message):
    raise jinja2.exceptions.TemplateError(message)


wide = sys.argv[1:] == ["wide"]
env = (SandboxedEnvironment if wide else ImmutableSandboxedEnvironment)(trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols, jinja2.ext.do, Generation])
env.filters["tojson"] = tojson
if wide:
    env.filters["from_json"] = json.loads
    env.filters["safe"] = str
env.globals["raise_exception"] = refuse
env.globals["strftime_now"] = lambda f: "04 Mar 2026"
out = []
for source, variables in json.load(sys.stdin):
    try:
        out.append([env.from_string(source).render(**variables), ""])
    except Exception as e:
        out.append(["", type(e).__name__ + ": " + str(e)])
json.dump(out, sys.stdout)
