"""Flows of hvac about who may do what: tokens, logins, leases, wrapped answers, identity."""

import json
import os

from hvac import exceptions
from hvac_session import Flows, client, data, not_offered, root

PLAINTEXT = "d2hhdCBub2JvZHkgZWxzZSBtYXkgcmVhZA=="


class Access(Flows):
    def test_01_tokens(self):
        """tokens"""
        made = root.auth.token.create(policies=["encryptor"], ttl="1h")["auth"]
        self.assertEqual(made["policies"], ["default", "encryptor"])
        self.assertEqual(data(root.auth.token.lookup(made["client_token"]))["accessor"], made["accessor"])
        limited = client(made["client_token"])
        self.assertEqual(data(limited.auth.token.lookup_self())["id"], made["client_token"])
        self.assertEqual(limited.auth.token.renew_self()["auth"]["client_token"], made["client_token"])
        limited.secrets.transit.encrypt_data("kw", PLAINTEXT)
        with self.assertRaises(exceptions.Forbidden):
            limited.secrets.transit.read_key("kw")
        self.assert_done(root.auth.token.revoke(made["client_token"]))
        with self.assertRaises(exceptions.Forbidden):
            limited.auth.token.lookup_self()
        self.assertFalse(limited.is_authenticated())

    def test_02_capabilities(self):
        """capabilities"""
        made = root.auth.token.create(policies=["encryptor"])["auth"]
        paths = ["transit/encrypt/kw", "transit/decrypt/kw"]
        limited = client(made["client_token"])
        for answer in (
            root.sys.get_capabilities(paths, token=made["client_token"]),
            root.sys.get_capabilities(paths, accessor=made["accessor"]),
            limited.sys.get_capabilities(paths),
        ):
            self.assertEqual(data(answer)["transit/encrypt/kw"], ["update"])
            self.assertEqual(data(answer)["transit/decrypt/kw"], ["deny"])

    def test_03_identity(self):
        """identity"""
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
        self.assertEqual(data(identity.create_or_update_group_by_name("third"))["name"], "third")
        self.assertEqual(data(identity.read_group_by_name("third"))["type"], "internal")
        self.assert_done(identity.delete_group_by_name("third"))
        identity.update_group(group, "staff", policies=["encryptor"], member_entity_ids=[entity])
        self.assertEqual(data(identity.read_entity(entity))["direct_group_ids"], [group])
        self.assertEqual(data(identity.lookup_group(name="staff"))["member_entity_ids"], [entity])
        outside = data(identity.create_or_update_group("outside", group_type="external"))["id"]
        named = data(identity.create_or_update_group_alias("g", mount_accessor=accessor, canonical_id=outside))["id"]
        identity.update_group_alias(named, "h", mount_accessor=accessor, canonical_id=outside)
        self.assertEqual(data(identity.read_group_alias(named))["canonical_id"], outside)
        self.assertEqual(data(identity.list_group_aliases())["keys"], [named])
        self.assertEqual(data(identity.read_group(outside))["alias"]["id"], named)
        self.assertEqual(data(identity.list_groups_by_name())["keys"], ["outside", "staff"])
        self.assertEqual(len(data(identity.list_groups())["keys"]), 2)
        identity.create_or_update_entity("eve")
        self.assert_done(identity.delete_entity_by_name("eve"))
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

    def test_04_wrong_token(self):
        """a wrong token"""
        wrong = client("no-such-token")
        for call in (wrong.sys.list_policies, wrong.secrets.transit.list_keys, wrong.auth.token.lookup_self):
            with self.assertRaisesRegex(exceptions.Forbidden, "permission denied"):
                call()

    def test_05_token_ends(self):
        """tokens by accessor, orphans, the end of one's own, tidy"""
        token = root.auth.token
        made = token.create(policies=["encryptor"], ttl="1h", period="2h")["auth"]
        self.assertIn(made["accessor"], data(token.list_accessors())["keys"])
        self.assertEqual(data(token.lookup_accessor(made["accessor"]))["period"], 7200)
        self.assertEqual(token.renew(made["client_token"])["auth"]["lease_duration"], 7200)
        self.assertEqual(token.renew_accessor(made["accessor"])["auth"]["client_token"], "")
        self.assert_done(token.revoke_accessor(made["accessor"]))
        parent = client(token.create(policies=["root"])["auth"]["client_token"])
        child = client(parent.auth.token.create(policies=["encryptor"])["auth"]["client_token"])
        self.assert_done(token.revoke_and_orphan_children(parent.token))
        self.assertTrue(data(child.auth.token.lookup_self())["orphan"])
        self.assert_done(child.auth.token.revoke_self())
        self.assertFalse(child.is_authenticated())
        # hvac hands out an answer whose status is not 200 as it is.
        self.assertEqual(token.tidy().status_code, 202)

    def test_06_batch_token(self):
        """batch tokens"""
        made = root.auth.token.create(policies=["encryptor"], type="batch", ttl="5m", renewable=False)["auth"]
        self.assertEqual((made["token_type"], made["accessor"]), ("batch", ""))
        client(made["client_token"]).secrets.transit.encrypt_data("kw", PLAINTEXT)

    def test_07_token_roles(self):
        """token roles"""
        token = root.auth.token
        self.assert_done(token.create_or_update_role("encrypting", allowed_policies=["encryptor"], orphan=True))
        self.assertEqual(data(token.read_role("encrypting"))["allowed_policies"], ["encryptor"])
        self.assertEqual(data(token.list_roles())["keys"], ["encrypting"])
        made = token.create(role_name="encrypting", policies=["encryptor"])["auth"]
        self.assertEqual(data(token.lookup(made["client_token"]))["role"], "encrypting")
        with self.assertRaises(exceptions.InvalidRequest):
            token.create(role_name="encrypting", policies=["root"])
        self.assert_done(token.delete_role("encrypting"))

    def test_08_login_methods(self):
        """mount, tune, list and unmount login methods"""
        self.assert_done(root.sys.enable_auth_method("userpass", description="people"))
        self.assert_done(root.sys.enable_auth_method("approle"))
        self.assertEqual(data(root.sys.list_auth_methods())["userpass/"]["description"], "people")
        self.assert_done(root.sys.tune_auth_method("userpass", default_lease_ttl="1h", listing_visibility="unauth"))
        tuned = data(root.sys.read_auth_method_tuning("userpass"))
        self.assertEqual((tuned["default_lease_ttl"], tuned["token_type"]), (3600, "default-service"))
        self.assert_done(root.sys.enable_auth_method("userpass", path="gone"))
        self.assert_done(root.sys.disable_auth_method("gone"))
        self.assertNotIn("gone/", data(root.sys.list_auth_methods()))

    def test_09_userpass(self):
        """users, and login by name and password"""
        userpass = root.auth.userpass
        self.assert_done(userpass.create_or_update_user("ann", "correct horse", policies="encryptor"))
        self.assertEqual(data(userpass.read_user("ann"))["policies"], ["encryptor"])
        self.assertEqual(data(userpass.list_user())["keys"], ["ann"])
        ann = client()
        made = ann.auth.userpass.login("ann", "correct horse")["auth"]
        self.assertEqual((made["metadata"], made["lease_duration"]), ({"username": "ann"}, 3600))
        ann.secrets.transit.encrypt_data("kw", PLAINTEXT)
        self.assert_done(userpass.update_password_on_user("ann", "another one"))
        with self.assertRaises(exceptions.InvalidRequest):
            client().auth.userpass.login("ann", "correct horse")
        again = client()
        again.login("/v1/auth/userpass/login/ann", json={"password": "another one"})
        self.assertTrue(again.is_authenticated())
        again.logout(revoke_token=True)
        self.assertFalse(again.is_authenticated())
        self.assert_done(userpass.delete_user("ann"))

    def test_10_approle(self):
        """approles, their secret ids, and login with them"""
        approle = root.auth.approle
        self.assert_done(approle.create_or_update_approle("app", token_policies=["encryptor"], token_ttl="10m"))
        self.assertEqual(data(approle.read_role("app"))["token_ttl"], 600)
        self.assertEqual(data(approle.list_roles())["keys"], ["app"])
        self.assert_done(approle.update_role_id("app", "a-name-of-our-own"))
        role = data(approle.read_role_id("app"))["role_id"]
        secret = data(approle.generate_secret_id("app", metadata={"team": "a"}))
        app = client()
        made = app.auth.approle.login(role, secret["secret_id"])["auth"]
        self.assertEqual(made["metadata"], {"role_name": "app", "team": "a"})
        app.secrets.transit.encrypt_data("kw", PLAINTEXT)
        accessor = secret["secret_id_accessor"]
        self.assertEqual(data(approle.list_secret_id_accessors("app"))["keys"], [accessor])
        self.assertEqual(data(approle.read_secret_id("app", secret["secret_id"]))["secret_id_accessor"], accessor)
        self.assertEqual(data(approle.read_secret_id_accessor("app", accessor))["metadata"], {"team": "a"})
        custom = data(approle.create_custom_secret_id("app", "one of our own"))
        self.assert_done(approle.destroy_secret_id("app", custom["secret_id"]))
        self.assert_done(approle.destroy_secret_id_accessor("app", accessor))
        with self.assertRaisesRegex(exceptions.InvalidRequest, "invalid role or secret ID"):
            client().auth.approle.login(role, secret["secret_id"])
        self.assert_done(approle.delete_role("app"))

    def test_11_leases(self):
        """leases"""
        sys = root.sys
        prefix = "auth/token/create"

        def lease():
            sys.revoke_prefix(prefix)
            made = client(root.auth.token.create(policies=["encryptor"], ttl="1h")["auth"]["client_token"])
            return made, prefix + "/" + data(sys.list_leases(prefix))["keys"][0]

        made, name = lease()
        self.assertEqual(data(sys.read_lease(name))["path"], prefix)
        self.assertEqual(sys.renew_lease(name, increment=7200)["auth"]["lease_duration"], 7200)
        self.assert_done(sys.revoke_lease(name))
        self.assertFalse(made.is_authenticated())
        with self.assertRaises(exceptions.InvalidRequest):
            sys.read_lease(name)
        made, name = lease()
        self.assert_done(sys.revoke_force(prefix))
        self.assertFalse(made.is_authenticated())

    def test_12_wrapping(self):
        """wrapped answers"""
        wrapped = root.read("transit/keys/kw", wrap_ttl="1m")["wrap_info"]
        self.assertEqual(wrapped["creation_path"], "transit/keys/kw")
        self.assertEqual(data(root.write("sys/wrapping/lookup", token=wrapped["token"]))["creation_ttl"], 60)
        self.assertEqual(data(root.sys.unwrap(wrapped["token"]))["name"], "kw")
        with self.assertRaises(exceptions.InvalidRequest):
            root.sys.unwrap(wrapped["token"])
        inside = root.write("sys/wrapping/wrap", wrap_ttl="1m", colour="green")["wrap_info"]
        self.assertEqual(data(client(inside["token"]).sys.unwrap()), {"colour": "green"})
        login = root.auth.token.create(policies=["encryptor"], wrap_ttl="1m")["wrap_info"]
        holder = client()
        holder.auth_cubbyhole(login["token"])
        self.assertEqual(data(holder.auth.token.lookup_self())["accessor"], login["wrapped_accessor"])

    def test_13_cubbyhole(self):
        """a cubbyhole, by write, read, list and delete"""
        self.assert_done(root.write("cubbyhole/mine", colour="green"))
        self.assertEqual(data(root.read("cubbyhole/mine")), {"colour": "green"})
        # A GET with ?list=True.
        self.assertEqual(data(root.list("cubbyhole"))["keys"], ["mine"])
        root.delete("cubbyhole/mine")
        self.assertIsNone(root.read("cubbyhole/mine"))

    def test_14_older_calls(self):
        """older calls of the client itself"""
        self.assertIn("transit/encrypt/kw", root.get_policy("encryptor"))
        made = root.auth.token.create(policies=["encryptor"])["auth"]
        self.assertEqual(data(root.lookup_token(made["client_token"]))["id"], made["client_token"])
        self.assertEqual(data(root.lookup_token(made["accessor"], accessor=True))["id"], "")
        self.assertEqual(root.renew_token(made["client_token"])["auth"]["client_token"], made["client_token"])
        root.revoke_token(made["accessor"], accessor=True)
        self.assertFalse(client(made["client_token"]).is_authenticated())

    @not_offered("not here, or not yet")
    def test_15_other_login_methods(self):
        """other login methods"""
        auth = root.auth
        for call in (
            lambda: auth.aws.list_roles(),
            lambda: auth.cert.list_certificate_roles(),
            lambda: auth.gcp.list_roles(),
            lambda: auth.github.read_configuration(),
            lambda: auth.jwt.list_roles(),
            lambda: auth.kubernetes.list_roles(),
            lambda: auth.ldap.list_users(),
            lambda: auth.mfa.read_configuration("userpass"),
            lambda: auth.oidc.list_roles(),
            lambda: auth.okta.list_users(),
            lambda: auth.radius.list_users(),
        ):
            self.assertRaises(exceptions.InvalidPath, call)
        with self.assertRaises(exceptions.InvalidRequest):
            root.sys.enable_auth_method("ldap")

    def test_17_workloads(self):
        """logins of workloads by cloud identity"""
        cloud = json.loads(os.environ["CLOUD_FACTS"])
        root.sys.enable_auth_method("azure")
        azure = root.auth.azure
        audience = "https://management.azure.com/"
        self.assert_done(azure.configure(cloud["tenant"], audience, None, cloud["clientId"], cloud["clientSecret"]))
        shown = azure.read_config()
        self.assertEqual((shown["tenant_id"], shown["client_id"]), (cloud["tenant"], cloud["clientId"]))
        bound = {"bound_service_principal_ids": [cloud["oid"]], "bound_subscription_ids": [cloud["subscription"]]}
        self.assert_done(azure.create_role("App", policies=["encryptor"], ttl="10m", num_uses=5, **bound))
        self.assertEqual(azure.list_roles()["keys"], ["app"])
        role = azure.read_role("app")
        self.assertEqual((role["token_policies"], role["token_ttl"], role["num_uses"]), (["encryptor"], 600, 5))
        workload = client()
        place = {"subscription_id": cloud["subscription"], "resource_group_name": "rg-app", "vm_name": "vm1"}
        made = workload.auth.azure.login("app", cloud["jwt"], **place)["auth"]
        self.assertEqual(made["metadata"]["vm_name"], "vm1")
        workload.secrets.transit.encrypt_data("kw", PLAINTEXT)
        with self.assertRaises(exceptions.Forbidden):
            client().auth.azure.login("app", cloud["jwt"], **{**place, "vm_name": "vm2"})
        self.assert_done(azure.delete_role("app"))
        self.assert_done(azure.delete_config())

    @not_offered("identity tokens are not here")
    def test_16_identity_tokens(self):
        """identity tokens (OIDC)"""
        identity = root.secrets.identity
        for call in (
            lambda: identity.configure_tokens_backend("https://localhost"),
            lambda: identity.read_tokens_backend_configuration(),
            lambda: identity.create_named_key("a"),
            lambda: identity.read_named_key("a"),
            lambda: identity.list_named_keys(),
            lambda: identity.rotate_named_key("a", "1h"),
            lambda: identity.delete_named_key("a"),
            lambda: identity.create_or_update_role("a", "b"),
            lambda: identity.read_role("a"),
            lambda: identity.list_roles(),
            lambda: identity.delete_role("a"),
            lambda: identity.generate_signed_id_token("a"),
            lambda: identity.introspect_signed_id_token("a"),
            lambda: identity.read_well_known_configurations(),
            lambda: identity.read_active_public_keys(),
        ):
            self.assertRaises(exceptions.InvalidPath, call)
