"""A session of hvac, unmodified, with a performance secondary whose primary fails over: run by region.test.ts.

Each line of its input names a step, which is printed when it is done. The address of the client never changes.
"""

import base64
import sys
import unittest

import hvac
from hvac import exceptions

ADDRESS, NAME, PASSWORD = sys.argv[1:]
PLAINTEXT = base64.b64encode(b"what nobody else may read").decode()


class Session(unittest.TestCase):
    client = hvac.Client(url=ADDRESS)

    def begin(self):
        """Logs in where it is, and has the primary make a key."""
        self.client.auth.userpass.login(NAME, PASSWORD)
        self.token = self.client.token
        self.client.secrets.transit.create_key("of-hvac")
        self.ciphertext = self.encrypt()
        self.has_all()

    def without_primary(self):
        """Nobody can write what the set shares; all else goes on."""
        self.has_all()
        self.client.auth.userpass.login(NAME, PASSWORD, use_token=False)
        with self.assertRaises(exceptions.VaultDown):
            self.client.secrets.transit.create_key("late")

    def go_on(self):
        """Another cluster is the primary now."""
        self.has_all()
        self.client.secrets.transit.rotate_key("of-hvac")
        versions = self.client.secrets.transit.read_key("of-hvac")["data"]["latest_version"]
        self.assertEqual(versions, 2)
        self.has_all()

    def has_all(self):
        """The token is the one of the login here, and what it encrypted opens."""
        self.assertEqual(self.client.token, self.token)
        self.assertEqual(self.client.auth.token.lookup_self()["data"]["display_name"], "userpass-" + NAME)
        for ciphertext in (self.ciphertext, self.encrypt()):
            opened = self.client.secrets.transit.decrypt_data("of-hvac", ciphertext)
            self.assertEqual(opened["data"]["plaintext"], PLAINTEXT)

    def encrypt(self):
        """A new ciphertext."""
        return self.client.secrets.transit.encrypt_data("of-hvac", PLAINTEXT)["data"]["ciphertext"]


SESSION = Session()
print("ready", flush=True)
for line in sys.stdin:
    step = line.strip()
    getattr(SESSION, step)()
    print(step, flush=True)
