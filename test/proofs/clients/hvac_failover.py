"""A session of hvac, unmodified, that goes through a failover: run by failover.test.ts.

Each line of its input names a step and the address to which the step speaks; the step is printed when it is done. The
session has one client from the first step to the last, and changes nothing of it but the address.
"""

import base64
import importlib.metadata
import sys
import unittest

import hvac
from hvac import exceptions

NAME, PASSWORD, LOGINS = sys.argv[1:]
PLAINTEXT = base64.b64encode(b"what nobody else may read").decode()
DISABLED = "path disabled in replication DR secondary mode"


class Session(unittest.TestCase):
    client = hvac.Client(url="http://127.0.0.1:1")

    def begin(self):
        """Leaves what a client has before a failover."""
        client, transit = self.client, self.client.secrets.transit
        client.auth.userpass.login(NAME, PASSWORD)
        self.token = client.token
        transit.create_key("old")
        transit.create_key("signs", key_type="ed25519")
        self.ciphertexts = [self.encrypt("old")]
        self.signature = transit.sign_data("signs", PLAINTEXT)["data"]["signature"]
        self.child = client.auth.token.create(policies=["work"], ttl="1h")["auth"]["accessor"]
        self.leases = client.sys.list_leases(LOGINS)["data"]["keys"]
        self.batch = client.auth.token.create(policies=["work"], type="batch")["auth"]["client_token"]
        self.wrapping = client.read("transit/keys/old", wrap_ttl="1h")["wrap_info"]["token"]
        # The last of all: the cluster that takes over has this too.
        client.write("cubbyhole/mine", colour="green")

    def refused(self):
        """At a cluster that follows another one."""
        for call in (
            self.client.auth.token.lookup_self,
            lambda: self.client.auth.userpass.login(NAME, PASSWORD, use_token=False),
            lambda: self.decrypt("old", self.ciphertexts[0]),
            lambda: self.client.secrets.transit.create_key("new"),
        ):
            with self.assertRaises(exceptions.InvalidRequest) as caught:
                call()
            self.assertEqual(caught.exception.errors, [DISABLED])

    def fenced(self, successor):
        """At the former primary, which stores nothing any more and says who does."""
        self.has_all()
        for call in (
            self.client.auth.token.renew_self,
            lambda: self.client.auth.userpass.login(NAME, PASSWORD, use_token=False),
            lambda: self.client.sys.unwrap(self.wrapping),
            lambda: self.client.write("cubbyhole/mine", colour="red"),
            lambda: self.client.secrets.transit.create_key("late"),
        ):
            with self.assertRaises(exceptions.VaultDown) as caught:
                call()
            self.assertIn("its primary does, at " + successor, caught.exception.errors[0])
        # Nothing is stored for a message: what it makes with the keys that there are opens at its successor too.
        self.ciphertexts.append(self.encrypt("old"))

    def go_on(self):
        """At the cluster that took over."""
        client = self.client
        self.has_all()
        self.assertEqual(client.auth.token.renew_self()["auth"]["client_token"], self.token)
        self.assertEqual(client.auth.token.lookup_accessor(self.child)["data"]["policies"], ["default", "work"])
        self.assertEqual(client.sys.list_leases(LOGINS)["data"]["keys"], self.leases)
        lease = LOGINS + "/" + self.leases[0]
        self.assertEqual(client.sys.renew_lease(lease)["lease_id"], lease)
        self.assertEqual(client.sys.unwrap(self.wrapping)["data"]["name"], "old")
        with self.assertRaises(exceptions.InvalidRequest):
            client.sys.unwrap(self.wrapping)
        client.token = self.batch
        self.assertEqual(self.decrypt("old", self.encrypt("old")), PLAINTEXT)
        client.token = self.token
        client.secrets.transit.create_key("new")
        self.assertEqual(self.decrypt("new", self.encrypt("new")), PLAINTEXT)
        client.auth.userpass.login(NAME, PASSWORD, use_token=False)

    def has_all(self):
        """With the token of the beginning."""
        client = self.client
        self.assertEqual(client.token, self.token)
        self.assertEqual(client.auth.token.lookup_self()["data"]["display_name"], "userpass-" + NAME)
        self.assertEqual(client.read("cubbyhole/mine")["data"], {"colour": "green"})
        for ciphertext in self.ciphertexts:
            self.assertEqual(self.decrypt("old", ciphertext), PLAINTEXT)
        verified = client.secrets.transit.verify_signed_data("signs", PLAINTEXT, signature=self.signature)
        self.assertTrue(verified["data"]["valid"])

    def encrypt(self, name):
        return self.client.secrets.transit.encrypt_data(name, PLAINTEXT)["data"]["ciphertext"]

    def decrypt(self, name, ciphertext):
        return self.client.secrets.transit.decrypt_data(name, ciphertext)["data"]["plaintext"]


session = Session()
print(importlib.metadata.version("hvac"), flush=True)
for line in sys.stdin:
    step, address, *more = line.split()
    session.client.url = address
    getattr(session, step)(*more)
    print(step, flush=True)
