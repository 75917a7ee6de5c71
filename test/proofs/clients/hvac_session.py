"""What the flows of hvac share: clients whose calls are noted, the flows' base, and the report of the run.

Arguments of the program: the server's address, and the file that takes the report.
"""

import importlib.metadata
import json
import sys
import unittest

import hvac

ADDRESS, REPORT = sys.argv[1:3]
VERSION = importlib.metadata.version("hvac")

# What hvac has classes for, and the server an engine or a login method.
SECTORS = (
    "sys",
    "auth.token",
    "auth.userpass",
    "auth.approle",
    "auth.azure",
    "secrets.identity",
    "secrets.transit",
)
# Their classes' own tools, and calls of the client that hand a raw request on.
INTERNAL = ("get_private_attr_name", "urljoin", "close", "validate_member_id_params_for_group_type")


def public_calls(holder):
    return [
        name
        for name in dir(holder)
        if not name.startswith("_") and name not in INTERNAL and callable(getattr(holder, name))
    ]


def offered_calls():
    """Names of all that hvac offers; of the classes for what is not here only the name, as `secrets.pki.*`."""
    # Calls of the client itself that hvac names deprecated lead to those of its newer classes.
    names = [name for name in public_calls(hvac.Client) if "eprecated" not in (getattr(hvac.Client, name).__doc__ or "")]
    plain = hvac.Client(url=ADDRESS)
    for category in ("auth", "secrets"):
        for name in getattr(plain, category).implemented_class_names:
            sector = category + "." + name
            if sector not in SECTORS:
                names.append(sector + ".*")
    for sector in SECTORS:
        holder = plain
        for part in sector.split("."):
            holder = getattr(holder, part)
        names += [sector + "." + name for name in public_calls(type(holder))]
    return names


OFFERED = offered_calls()


class Watched:
    """A client of hvac, or a part of one, as it is: only the names of the calls are noted, in `made`."""

    made = set()

    def __init__(self, target, prefix=""):
        self.__dict__["target"] = target
        self.__dict__["prefix"] = prefix

    def __setattr__(self, name, value):
        setattr(self.target, name, value)

    def __getattr__(self, name):
        value = getattr(self.target, name)
        full = self.prefix + name
        if full + ".*" in OFFERED:
            Watched.made.add(full + ".*")
            return value
        if full in OFFERED:
            Watched.made.add(full)
            return value
        holds_more = any(offered.startswith(full + ".") for offered in OFFERED)
        return Watched(value, full + ".") if holds_more else value


def client(token=None, namespace=None):
    return Watched(hvac.Client(url=ADDRESS, token=token, namespace=namespace))


root = client()


def data(answer):
    """What hvac gives of an answer with status 200; for any other it hands out the response itself."""
    assert isinstance(answer, dict), answer
    return answer["data"]


def not_offered(note):
    """Of a flow that asks for what is not here, and sees how that is refused."""

    def mark(function):
        function.result = "not offered: " + note
        return function

    return mark


class Flows(unittest.TestCase):
    """Tests in the order of their names; the first line of what each says about itself is its title in the report."""

    report = []

    def setUp(self):
        Watched.made = set()

    def tearDown(self):
        function = getattr(self, self._testMethodName)
        result = getattr(function, "result", "runs")
        Flows.report.append({"title": self.shortDescription(), "calls": sorted(Watched.made), "result": result})

    def assert_done(self, answer):
        self.assertEqual(answer.status_code, 204)


def run(*classes):
    """Runs the flows of these classes, one after the other, and writes the report. Exits with 0 where all succeed."""
    load = unittest.defaultTestLoader.loadTestsFromTestCase
    suite = unittest.TestSuite(load(one) for one in classes)
    result = unittest.TextTestRunner(failfast=True, verbosity=2, warnings="ignore").run(suite)
    with open(REPORT, "w", encoding="utf-8") as file:
        json.dump({"version": VERSION, "offered": OFFERED, "flows": Flows.report}, file)
    sys.exit(0 if result.wasSuccessful() else 1)
