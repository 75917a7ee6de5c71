"""The client hvac for Python, unmodified, against a real server: run by hvac.test.ts, with the address as argument.

The server is new and not initialised; the tests run in the order of their names and build on each other.
"""

import base64
import sys
import unittest

import hvac
from hvac import exceptions

ADDRESS = sys.argv.pop(1)
POLICY = 'path "transit/encrypt/kw" { capabilities = ["update"] }'
PLAINTEXT = base64.b64encode(b"what nobody else may read").decode()

root = hvac.Client(url=ADDRESS)


def data(answer):
    """What hvac gives of an answer with status 200; for any other it hands out the response itself."""
    assert isinstance(answer, dict), answer
    return answer["data"]


class Flow(unittest.TestCase):
    def assert_done(self, answer):
        self.assertEqual(answer.status_code, 204)

    def test_01_initialise_and_unseal(self):
        self.assertFalse(root.sys.is_initialized())
        self.assertEqual(root.sys.read_health_status().status_code, 501)
        made = root.sys.initialize(secret_shares=5, secret_threshold=3)
        self.assertTrue(root.sys.is_initialized())
        self.assertTrue(root.sys.is_sealed())
        self.assertEqual(root.sys.read_health_status(method="GET").status_code, 503)
        root.token = made["root_token"]
        with self.assertRaises(exceptions.VaultDown):
            root.sys.list_policies()
        keys = made["keys_base64"]
        self.assertEqual(len(keys), 5)
        self.assertEqual(root.sys.submit_unseal_key(keys[0])["progress"], 1)
        self.assertEqual(root.sys.submit_unseal_key(reset=True)["progress"], 0)
        self.assertFalse(root.sys.submit_unseal_keys(keys[2:])["sealed"])
        Flow.keys = made["keys"]

    def test_02_status_and_health(self):
        status = root.sys.read_seal_status()
        self.assertEqual((status["sealed"], status["t"], status["n"]), (False, 3, 5))
        self.assertEqual(root.sys.read_health_status().status_code, 200)
        self.assertTrue(root.sys.read_health_status(method="GET")["initialized"])
        self.assertFalse(root.sys.read_leader_status()["ha_enabled"])
        self.assertTrue(root.is_authenticated())

    def test_03_mounts(self):
        for path in ("transit", "second"):
            self.assert_done(root.sys.enable_secrets_engine("transit", path=path, description="for " + path))
        mounts = data(root.sys.list_mounted_secrets_engines())
        self.assertEqual(mounts["second/"]["type"], "transit")
        self.assertEqual(mounts["second/"]["description"], "for second")
        with self.assertRaises(exceptions.InvalidRequest):
            root.sys.enable_secrets_engine("transit", path="transit")
        self.assert_done(root.sys.disable_secrets_engine("second"))
        self.assertNotIn("second/", data(root.sys.list_mounted_secrets_engines()))

    def test_04_keys(self):
        transit = root.secrets.transit
        transit.create_key("kw")
        self.assertEqual(data(transit.read_key("kw"))["type"], "aes256-gcm96")
        transit.create_key("derived", derived=True, convergent_encryption=True, key_type="chacha20-poly1305")
        # Sent with the method LIST.
        self.assertEqual(data(transit.list_keys())["keys"], ["derived", "kw"])
        transit.rotate_key("kw")
        read = data(transit.read_key("kw"))
        self.assertEqual(read["latest_version"], 2)
        self.assertEqual(sorted(read["keys"]), ["1", "2"])
        with self.assertRaises(exceptions.InvalidPath):
            transit.read_key("no-such")

    def test_05_encrypt_rewrap_decrypt(self):
        transit = root.secrets.transit
        transit.create_key("moving")
        first = data(transit.encrypt_data("moving", PLAINTEXT))["ciphertext"]
        self.assertTrue(first.startswith("vault:v1:"))
        transit.rotate_key("moving")
        second = data(transit.rewrap_data("moving", first))["ciphertext"]
        self.assertTrue(second.startswith("vault:v2:"))
        for ciphertext in (first, second):
            self.assertEqual(data(transit.decrypt_data("moving", ciphertext))["plaintext"], PLAINTEXT)
        context = base64.b64encode(b"one customer").decode()
        same = [data(transit.encrypt_data("derived", PLAINTEXT, context=context))["ciphertext"] for _ in range(2)]
        self.assertEqual(same[0], same[1])
        with self.assertRaises(exceptions.InvalidRequest):
            transit.decrypt_data("moving", second[:-8] + "AAAAAAA=")

    def test_06_batch(self):
        transit = root.secrets.transit
        # hvac sends "plaintext": null and "ciphertext": null beside a batch.
        items = [{"plaintext": PLAINTEXT} for _ in range(1000)]
        made = data(transit.encrypt_data("kw", plaintext=None, batch_input=items))["batch_results"]
        self.assertEqual(len(made), 1000)
        ciphertexts = [{"ciphertext": one["ciphertext"]} for one in made]
        opened = data(transit.decrypt_data("kw", ciphertext=None, batch_input=ciphertexts))["batch_results"]
        self.assertEqual({one["plaintext"] for one in opened}, {PLAINTEXT})

    def test_07_data_key(self):
        transit = root.secrets.transit
        made = data(transit.generate_data_key("kw", key_type="plaintext", bits=256))
        self.assertEqual(data(transit.decrypt_data("kw", made["ciphertext"]))["plaintext"], made["plaintext"])
        self.assertEqual(len(base64.b64decode(made["plaintext"])), 32)
        self.assertNotIn("plaintext", data(transit.generate_data_key("kw", key_type="wrapped")))

    def test_08_configure_and_delete(self):
        transit = root.secrets.transit
        transit.create_key("gone")
        with self.assertRaises(exceptions.InvalidRequest):
            transit.delete_key("gone")
        transit.update_key_configuration("gone", deletion_allowed=True)
        self.assertTrue(data(transit.read_key("gone"))["deletion_allowed"])
        self.assert_done(transit.delete_key("gone"))
        with self.assertRaises(exceptions.InvalidPath):
            transit.read_key("gone")

    def test_09_policies(self):
        for policy in (POLICY, {"path": {"transit/encrypt/kw": {"capabilities": ["update"]}}}):
            self.assert_done(root.sys.create_or_update_policy("encryptor", policy))
            self.assertIn("transit/encrypt/kw", data(root.sys.read_policy("encryptor"))["rules"])
        self.assertIn("encryptor", data(root.sys.list_policies())["policies"])
        self.assert_done(root.sys.create_or_update_policy("other", POLICY))
        self.assert_done(root.sys.delete_policy("other"))
        self.assertNotIn("other", data(root.sys.list_policies())["policies"])

    def test_10_tokens(self):
        made = root.auth.token.create(policies=["encryptor"], ttl="1h")["auth"]
        self.assertEqual(made["policies"], ["default", "encryptor"])
        self.assertEqual(data(root.auth.token.lookup(made["client_token"]))["accessor"], made["accessor"])
        limited = hvac.Client(url=ADDRESS, token=made["client_token"])
        self.assertEqual(data(limited.auth.token.lookup_self())["id"], made["client_token"])
        self.assertEqual(limited.auth.token.renew_self()["auth"]["client_token"], made["client_token"])
        limited.secrets.transit.encrypt_data("kw", PLAINTEXT)
        with self.assertRaises(exceptions.Forbidden):
            limited.secrets.transit.read_key("kw")
        self.assert_done(root.auth.token.revoke(made["client_token"]))
        with self.assertRaises(exceptions.Forbidden):
            limited.auth.token.lookup_self()
        self.assertFalse(limited.is_authenticated())

    def test_11_capabilities(self):
        made = root.auth.token.create(policies=["encryptor"])["auth"]
        paths = ["transit/encrypt/kw", "transit/decrypt/kw"]
        limited = hvac.Client(url=ADDRESS, token=made["client_token"])
        for answer in (
            root.sys.get_capabilities(paths, token=made["client_token"]),
            limited.sys.get_capabilities(paths),
        ):
            self.assertEqual(data(answer)["transit/encrypt/kw"], ["update"])
            self.assertEqual(data(answer)["transit/decrypt/kw"], ["deny"])

    def test_12_identity(self):
        identity = root.secrets.identity
        mounts = data(root.adapter.get("/v1/sys/internal/ui/mounts"))["auth"]
        accessor = mounts["token/"]["accessor"]
        made = data(identity.create_or_update_entity("ann", policies=["encryptor"], metadata={"team": "a"}))
        entity = made["id"]
        self.assert_done(identity.create_or_update_entity_by_name("ann", metadata={"team": "b"}))
        self.assert_done(identity.update_entity(entity, disabled=True))
        self.assertTrue(data(identity.read_entity_by_name("ann"))["disabled"])
        alias = data(identity.create_or_update_entity_alias("ann@example", entity, accessor))["id"]
        self.assertEqual(data(identity.read_entity_alias(alias))["canonical_id"], entity)
        identity.update_entity_alias(alias, "ann@example.org", entity, accessor)
        found = data(identity.lookup_entity(alias_name="ann@example.org", alias_mount_accessor=accessor))
        self.assertEqual((found["id"], found["aliases"][0]["id"]), (entity, alias))
        self.assertEqual(found["metadata"], {"team": "b"})
        self.assertEqual(data(identity.list_entities())["keys"], [entity])
        self.assertEqual(data(identity.list_entities_by_name())["keys"], ["ann"])
        self.assertEqual(data(identity.list_entity_aliases())["keys"], [alias])
        group = data(identity.create_or_update_group("staff", member_entity_ids=[entity]))["id"]
        identity.update_group(group, "staff", policies=["encryptor"], member_entity_ids=[entity])
        self.assertEqual(data(identity.read_entity(entity))["direct_group_ids"], [group])
        self.assertEqual(data(identity.lookup_group(name="staff"))["member_entity_ids"], [entity])
        outside = data(identity.create_or_update_group("outside", group_type="external"))["id"]
        named = data(identity.create_or_update_group_alias("g", mount_accessor=accessor, canonical_id=outside))["id"]
        self.assertEqual(data(identity.read_group_alias(named))["canonical_id"], outside)
        self.assertEqual(data(identity.list_group_aliases())["keys"], [named])
        self.assertEqual(data(identity.read_group(outside))["alias"]["id"], named)
        self.assertEqual(data(identity.list_groups_by_name())["keys"], ["outside", "staff"])
        self.assertEqual(len(data(identity.list_groups())["keys"]), 2)
        second = data(identity.create_or_update_entity("bob"))["id"]
        self.assert_done(identity.merge_entities([second], entity))
        self.assert_done(identity.delete_group_alias(named))
        self.assert_done(identity.delete_group(group))
        self.assert_done(identity.delete_group_by_name("outside"))
        self.assert_done(identity.delete_entity_alias(alias))
        self.assert_done(identity.delete_entity(entity))
        with self.assertRaises(exceptions.InvalidPath):
            identity.read_entity(entity)
        self.assertEqual(identity.lookup_entity(name="ann").status_code, 204)

    def test_13_wrong_token(self):
        wrong = hvac.Client(url=ADDRESS, token="no-such-token")
        for call in (wrong.sys.list_policies, wrong.secrets.transit.list_keys, wrong.auth.token.lookup_self):
            with self.assertRaisesRegex(exceptions.Forbidden, "permission denied"):
                call()

    def test_14_seal(self):
        self.assert_done(root.sys.seal())
        self.assertTrue(root.sys.is_sealed())
        with self.assertRaises(exceptions.VaultDown):
            root.secrets.transit.encrypt_data("kw", PLAINTEXT)
        self.assertFalse(root.sys.submit_unseal_keys(Flow.keys[:3])["sealed"])
        self.assertEqual(data(root.secrets.transit.read_key("kw"))["latest_version"], 2)


if __name__ == "__main__":
    unittest.main(failfast=True, verbosity=2, warnings="ignore")
