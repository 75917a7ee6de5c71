# Port 8200 is in clear: only a proxy with TLS may reach it. Port 8201 is the cluster port, with TLS of its own: a second
# site must reach it directly. KEYWRIGHT_API_ADDR and KEYWRIGHT_CLUSTER_ADDR say where both are reached.
listener "tcp" {
  address     = "0.0.0.0:8200"
  tls_disable = true
}
storage "sqlite" {
  path = "/var/lib/keywright"
}
