"""JSON Schemas: compiled once, asked often, and never a reason to fetch anything.

Draft 2020-12 unless `$schema` says otherwise. References stay inside the document, patterns match in linear time,
`format` only annotates, and keywords that nobody knows, like the plan's own `reducer`, are ignored.
What a schema says about paths is `wf_core.validation`.
"""

from wf_core.schemas.checks import Check, ElementCheck, Problem, compile_element, compile_schema
from wf_core.schemas.faults import SchemaIssue, schema_issues
from wf_core.schemas.patterns import Pattern, compile_pattern

__all__ = [
    "Check",
    "ElementCheck",
    "Pattern",
    "Problem",
    "SchemaIssue",
    "compile_element",
    "compile_pattern",
    "compile_schema",
    "schema_issues",
]
