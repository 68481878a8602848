"""Holds what a plain schemathesis found against the list of what the contract demands.

plain.py LIST RULES REPORT...: fails if a report has a failure that no entry of the list is about, or is not of a whole run, or if
an entry names no rule. Entries that nothing was found for are listed: at full depth they can go."""

import base64
import fnmatch
import json
import re
import sys

import yaml


def failures(report):
    """Every failed check of a report: operation, code, status and text of the answer, and how the request went."""
    with open(report) as lines:
        events = [json.loads(line) for line in lines]
    if not any("EngineFinished" in event for event in events):
        sys.exit(f"{report} is not of a whole run")
    for event in events:
        if "FatalError" in event or "NonFatalError" in event:
            sys.exit(f"{report}: schemathesis failed: {json.dumps(event)[:2000]}")
        recorder = event.get("ScenarioFinished", {}).get("recorder", {})
        for case, checks in recorder.get("checks", {}).items():
            for check in checks:
                if check["status"] != "success":
                    failure = check["failure_info"]["failure"]
                    request, response = exchange(recorder["interactions"].get(case, {}))
                    yield failure["operation"], failure["code"], response, f"{failure['title']}: {failure['message']}", request


def exchange(interaction):
    """The request as text, and status and body of the answer."""
    request, response = interaction.get("request") or {}, interaction.get("response") or {}
    sent = f"{request.get('method')} {request.get('uri')} {text(request.get('body'))}"
    return sent, (response.get("status_code"), text(response.get("content")))


def text(content):
    return base64.b64decode((content or {}).get("$base64", "")).decode("utf-8", "replace")


def main(path, rules, *reports):
    with open(path) as file:
        expected = yaml.safe_load(file)
    with open(rules) as file:
        known = {rule["id"]: rule for rule in yaml.safe_load(file)}
    for entry in expected:
        if entry["rule"] not in known:
            sys.exit(f"{path}: there is no rule {entry['rule']}")
    found, unlisted = {}, {}
    for report in reports:
        for operation, code, (status, body), message, request in failures(report):
            for number, entry in enumerate(expected):
                if (entry["code"], entry["status"]) == (code, status) and re.search(entry["answer"], body) and any(
                    fnmatch.fnmatchcase(operation, pattern) for pattern in entry["operations"]
                ):
                    found[number] = found.get(number, 0) + 1
                    break
            else:
                unlisted.setdefault((operation, code, status, re.sub(r"\d+", "0", body)[:200]), (report, message, request, body))
    for number, entry in enumerate(expected):
        rule = known[entry["rule"]]
        times = f"{found[number]} times" if number in found else "NOT SEEN"
        print(f"{times}: {entry['code']} {entry['status']}, as {rule['id']} demands ({rule['source']}): {rule['says']}")
    for (operation, code, status, _), (report, message, request, body) in unlisted.items():
        print(f"\nNOT LISTED: {operation} {code} {status} ({report})\n{message}\n{request[:2000]}\n{body[:1000]}")
    print(f"{len(expected)} entries, {len(found)} seen, {len(unlisted)} failures that are not listed")
    return bool(unlisted)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
