"""The client hvac for Python, unmodified, against a real server: run by hvac.test.ts.

The server is new and not initialised; the tests run in the order of their names and build on each other.
"""

import base64
import hashlib
import tempfile

from hvac import exceptions
from hvac_access_flow import Access
from hvac_session import Flows, client, data, not_offered, root, run

POLICY = 'path "transit/encrypt/kw" { capabilities = ["update"] }'
PLAINTEXT = base64.b64encode(b"what nobody else may read").decode()


class Serving(Flows):
    def test_01_initialise_and_unseal(self):
        """initialise and unseal"""
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
        Serving.keys = made["keys"]

    def test_02_status_and_health(self):
        """status and health"""
        status = root.sys.read_seal_status()
        self.assertEqual((status["sealed"], status["t"], status["n"]), (False, 3, 5))
        self.assertEqual(root.sys.read_health_status().status_code, 200)
        self.assertTrue(root.sys.read_health_status(method="GET")["initialized"])
        self.assertFalse(root.sys.read_leader_status()["ha_enabled"])
        self.assertTrue(root.is_authenticated())
        self.assertEqual(root.sys.read_init_status(), {"initialized": True})

    def test_03_mounts(self):
        """mounts"""
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
        """transit keys"""
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
        """transit ciphertexts"""
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
        """a batch of 1,000"""
        transit = root.secrets.transit
        # hvac sends "plaintext": null and "ciphertext": null beside a batch.
        items = [{"plaintext": PLAINTEXT} for _ in range(1000)]
        made = data(transit.encrypt_data("kw", plaintext=None, batch_input=items))["batch_results"]
        self.assertEqual(len(made), 1000)
        ciphertexts = [{"ciphertext": one["ciphertext"]} for one in made]
        opened = data(transit.decrypt_data("kw", ciphertext=None, batch_input=ciphertexts))["batch_results"]
        self.assertEqual({one["plaintext"] for one in opened}, {PLAINTEXT})

    def test_07_data_key(self):
        """data keys"""
        transit = root.secrets.transit
        made = data(transit.generate_data_key("kw", key_type="plaintext", bits=256))
        self.assertEqual(data(transit.decrypt_data("kw", made["ciphertext"]))["plaintext"], made["plaintext"])
        self.assertEqual(len(base64.b64decode(made["plaintext"])), 32)
        self.assertNotIn("plaintext", data(transit.generate_data_key("kw", key_type="wrapped")))

    def test_08_configure_and_delete(self):
        """configure and delete a key"""
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
        """policies"""
        for policy in (POLICY, {"path": {"transit/encrypt/kw": {"capabilities": ["update"]}}}):
            self.assert_done(root.sys.create_or_update_policy("encryptor", policy))
            self.assertIn("transit/encrypt/kw", data(root.sys.read_policy("encryptor"))["rules"])
        self.assertIn("encryptor", data(root.sys.list_policies())["policies"])
        self.assert_done(root.sys.create_or_update_policy("other", POLICY))
        self.assert_done(root.sys.delete_policy("other"))
        self.assertNotIn("other", data(root.sys.list_policies())["policies"])

    def test_10_tune_and_move_a_mount(self):
        """tune and move a mount"""
        self.assert_done(root.sys.enable_secrets_engine("transit", path="a", options={"colour": "green"}))
        self.assertEqual(root.sys.retrieve_mount_option("a", "colour"), "green")
        self.assert_done(root.sys.tune_mount_configuration("a", default_lease_ttl="1h", description="tuned"))
        tuned = data(root.sys.read_mount_configuration("a"))
        self.assertEqual((tuned["default_lease_ttl"], tuned["description"]), (3600, "tuned"))
        moved = data(root.sys.move_backend("a", "b"))["migration_id"]
        self.assertEqual(data(root.read("sys/remount/status/" + moved))["migration_info"]["status"], "success")
        mounts = data(root.sys.list_mounted_secrets_engines())
        self.assertNotIn("a/", mounts)
        self.assertEqual(mounts["b/"]["config"]["default_lease_ttl"], 3600)
        self.assert_done(root.sys.disable_secrets_engine("b"))

    def test_11_random_hash_hmac(self):
        """transit: random bytes, hashes, HMACs"""
        transit = root.secrets.transit
        drawn = data(transit.generate_random_bytes(16, output_format="hex"))["random_bytes"]
        self.assertEqual(len(bytes.fromhex(drawn)), 16)
        self.assertNotEqual(data(transit.generate_random_bytes(16, output_format="hex"))["random_bytes"], drawn)
        hashed = data(transit.hash_data(PLAINTEXT, "sha2-512", "base64"))["sum"]
        self.assertEqual(base64.b64decode(hashed), hashlib.sha512(base64.b64decode(PLAINTEXT)).digest())
        made = data(transit.generate_hmac("kw", PLAINTEXT, algorithm="sha2-512"))["hmac"]
        self.assertTrue(made.startswith("vault:v2:"))
        for algorithm, valid in (("sha2-512", True), ("sha2-256", False)):
            verified = data(transit.verify_signed_data("kw", PLAINTEXT, hmac=made, hash_algorithm=algorithm))
            self.assertEqual(verified["valid"], valid)
        old = data(transit.generate_hmac("kw", PLAINTEXT, key_version=1))["hmac"]
        self.assertTrue(data(transit.verify_signed_data("kw", PLAINTEXT, hmac=old))["valid"])

    def test_11_signatures(self):
        """transit: signatures"""
        transit = root.secrets.transit
        other = base64.b64encode(b"other").decode()
        digest = base64.b64encode(hashlib.sha256(base64.b64decode(PLAINTEXT)).digest()).decode()
        for key_type, given in (
            ("ed25519", {}),
            ("ecdsa-p256", {"hash_algorithm": "sha2-384"}),
            ("ecdsa-p384", {"marshaling_algorithm": "jws"}),
            ("ecdsa-p521", {}),
            ("rsa-2048", {"signature_algorithm": "pkcs1v15"}),
        ):
            transit.create_key(key_type, key_type=key_type)
            made = data(transit.sign_data(key_type, PLAINTEXT, **given))["signature"]
            for text, valid in ((PLAINTEXT, True), (other, False)):
                verified = data(transit.verify_signed_data(key_type, text, signature=made, **given))
                self.assertEqual(verified["valid"], valid, key_type)
        for name, given in (("ecdsa-p256", {}), ("rsa-2048", {"signature_algorithm": "pss"})):
            made = data(transit.sign_data(name, digest, prehashed=True, hash_algorithm="sha2-256", **given))["signature"]
            self.assertTrue(data(transit.verify_signed_data(name, PLAINTEXT, signature=made, **given))["valid"])
        transit.create_key("signer", key_type="ed25519", derived=True)
        context = base64.b64encode(b"one customer").decode()
        made = data(transit.sign_data("signer", PLAINTEXT, context=context))
        self.assertEqual(len(base64.b64decode(made["public_key"])), 32)
        verified = data(transit.verify_signed_data("signer", PLAINTEXT, signature=made["signature"], context=context))
        self.assertTrue(verified["valid"])
        with self.assertRaises(exceptions.InvalidRequest):
            transit.sign_data("kw", PLAINTEXT)

    def test_11_moving_keys(self):
        """transit: export, backup, trim"""
        transit = root.secrets.transit
        transit.create_key("packed", exportable=True, allow_plaintext_backup=True)
        transit.rotate_key("packed")
        made = data(transit.encrypt_data("packed", PLAINTEXT))["ciphertext"]
        exported = data(transit.export_key("packed", "encryption-key"))["keys"]
        self.assertEqual([len(base64.b64decode(exported[version])) for version in ("1", "2")], [32, 32])
        backup = data(transit.backup_key("packed"))["backup"]
        with self.assertRaises(exceptions.InvalidRequest):
            transit.restore_key(backup, name="packed")
        self.assert_done(transit.restore_key(backup, name="moved"))
        self.assertEqual(data(transit.decrypt_data("moved", made))["plaintext"], PLAINTEXT)
        # The client takes no equal ones.
        transit.rotate_key("moved")
        transit.update_key_configuration("moved", min_decryption_version=2, min_encryption_version=3)
        transit.trim_key("moved", 2)
        self.assertEqual(list(data(transit.read_key("moved"))["keys"]), ["2", "3"])
        with self.assertRaises(exceptions.InvalidRequest):
            transit.export_key("kw", "encryption-key")

    @not_offered("not here")
    def test_12_other_engines(self):
        """other secrets engines"""
        secrets = root.secrets
        for call in (
            lambda: secrets.activedirectory.list_roles(),
            lambda: secrets.aws.list_roles(),
            lambda: secrets.azure.list_roles(),
            lambda: secrets.consul.list_roles(),
            lambda: secrets.database.list_roles(),
            lambda: secrets.gcp.list_rolesets(),
            lambda: secrets.kv.v2.read_secret_version("a"),
            lambda: secrets.pki.list_roles(),
            lambda: secrets.rabbitmq.read_role("a"),
            lambda: secrets.transform.list_roles(),
        ):
            self.assertRaises(exceptions.InvalidPath, call)
        with self.assertRaises(exceptions.InvalidRequest):
            root.sys.enable_secrets_engine("pki")

    @not_offered("not yet")
    def test_13_cluster(self):
        """standby servers, Raft"""
        sys = root.sys
        for call in (
            lambda: sys.read_raft_config(),
            lambda: sys.join_raft_cluster("http://localhost"),
            lambda: sys.remove_raft_node("a"),
            lambda: sys.take_raft_snapshot(),
        ):
            self.assertRaises(exceptions.InvalidPath, call)
        # There is no other server to step down for.
        self.assertRaises(exceptions.InvalidRequest, sys.step_down)
        # What they send is not JSON, and is refused before its path is looked for.
        for call in (sys.restore_raft_snapshot, sys.force_restore_raft_snapshot):
            self.assertRaises(exceptions.InvalidRequest, call, b"none")

    def test_14_audit_devices(self):
        """audit devices"""
        sys = root.sys
        with tempfile.TemporaryDirectory() as directory:
            log = directory + "/audit.log"
            self.assert_done(sys.enable_audit_device("file", path="log", options={"file_path": log}))
            self.assertEqual(data(sys.list_enabled_audit_devices())["log/"]["options"]["file_path"], log)
            hashed = data(sys.calculate_hash("log", PLAINTEXT))["hash"]
            root.secrets.transit.encrypt_data("kw", PLAINTEXT)
            self.assert_done(sys.disable_audit_device("log"))
            with open(log) as lines:
                text = lines.read()
        self.assertIn(hashed, text)
        self.assertNotIn(PLAINTEXT, text)
        self.assertEqual(data(sys.list_enabled_audit_devices()), {})

    def test_15_namespaces(self):
        """namespaces: all of it once in `team/a`"""
        self.assertEqual(data(root.sys.create_namespace("team"))["path"], "team/")
        team = client(root.token, namespace="team")
        team.sys.create_namespace("a")
        self.assertEqual(data(root.sys.list_namespaces())["keys"], ["team/"])
        self.assertEqual(data(team.sys.list_namespaces())["keys"], ["a/"])
        inner = client(root.token, namespace="team/a")
        self.assert_done(inner.sys.enable_secrets_engine("transit"))
        inner.secrets.transit.create_key("kw")
        self.assert_done(inner.sys.create_or_update_policy("inner", POLICY))
        self.assertNotIn("inner", data(root.sys.list_policies())["policies"])
        self.assert_done(inner.sys.enable_auth_method("userpass"))
        self.assert_done(inner.auth.userpass.create_or_update_user("ann", "correct horse", policies="inner"))
        ann = client(namespace="team/a")
        made = ann.auth.userpass.login("ann", "correct horse")["auth"]
        self.assertEqual(made["policies"], ["default", "inner"])
        self.assertEqual(data(ann.auth.token.lookup_self())["namespace_path"], "team/a/")
        ciphertext = data(ann.secrets.transit.encrypt_data("kw", PLAINTEXT))["ciphertext"]
        self.assertEqual(data(inner.secrets.transit.decrypt_data("kw", ciphertext))["plaintext"], PLAINTEXT)
        for elsewhere in (client(made["client_token"]), client(made["client_token"], namespace="team")):
            with self.assertRaises(exceptions.Forbidden):
                elsewhere.secrets.transit.encrypt_data("kw", PLAINTEXT)
        # It is of the root, where this key was made under the same name.
        with self.assertRaises(exceptions.InvalidRequest):
            root.secrets.transit.decrypt_data("kw", ciphertext)
        short = inner.auth.token.create(policies=["inner"], ttl="10m")["auth"]["client_token"]
        client(short, namespace="team/a").secrets.transit.encrypt_data("kw", PLAINTEXT)
        self.assertEqual(data(team.sys.delete_namespace("a"))["status"], "in-progress")
        # A namespace that is gone, or going, has no token.
        with self.assertRaises(exceptions.Forbidden):
            client(short).auth.token.lookup_self()


class Sealing(Flows):
    def test_1_root_token(self):
        """a root token by shares"""
        progress = root.sys.read_root_generation_progress()
        otp = "x" * progress["otp_length"]
        root.sys.start_root_token_generation(otp=otp)
        self.assert_done(root.sys.cancel_root_generation())
        nonce = root.sys.start_root_token_generation(otp=otp)["nonce"]
        for key in Serving.keys[:3]:
            done = root.sys.generate_root(key, nonce)
        encoded = base64.b64decode(done["encoded_token"] + "==")
        made = client(bytes(byte ^ ord("x") for byte in encoded).decode())
        self.assertEqual(data(made.auth.token.lookup_self())["policies"], ["root"])

    def test_2_new_data_key_and_shares(self):
        """a new data key, new shares"""
        term = data(root.sys.get_encryption_key_status())["term"]
        self.assert_done(root.sys.rotate_encryption_key())
        self.assertEqual(data(root.sys.get_encryption_key_status())["term"], term + 1)
        root.sys.start_rekey(secret_shares=2, secret_threshold=2)
        self.assert_done(root.sys.cancel_rekey())
        self.assertFalse(root.sys.read_rekey_progress()["started"])
        nonce = root.sys.start_rekey(secret_shares=3, secret_threshold=2, require_verification=True)["nonce"]
        root.sys.rekey(Serving.keys[0], nonce)
        made = root.sys.rekey_multi(Serving.keys[1:3], nonce)
        self.assertTrue(root.sys.read_rekey_verify_progress()["started"])
        nonce = made["verification_nonce"]
        root.sys.rekey_verify(made["keys"][0], nonce)
        self.assertEqual(root.sys.cancel_rekey_verify()["progress"], 0)
        nonce = root.sys.read_rekey_verify_progress()["nonce"]
        self.assertTrue(root.sys.rekey_verify_multi(made["keys"][:2], nonce)["complete"])
        Serving.keys = made["keys"]
        # None is kept: no share was encrypted to a key of OpenPGP.
        with self.assertRaises((exceptions.InvalidPath, exceptions.InvalidRequest)):
            root.sys.read_backup_keys()

    def test_3_seal(self):
        """seal and unseal"""
        self.assert_done(root.sys.seal())
        self.assertTrue(root.sys.is_sealed())
        with self.assertRaises(exceptions.VaultDown):
            root.secrets.transit.encrypt_data("kw", PLAINTEXT)
        self.assertFalse(root.sys.submit_unseal_keys(Serving.keys[:3])["sealed"])
        self.assertEqual(data(root.secrets.transit.read_key("kw"))["latest_version"], 2)


if __name__ == "__main__":
    run(Serving, Access, Sealing)
