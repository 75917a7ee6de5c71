# In clear: only a proxy with TLS may reach this container.
listener "tcp" {
  address     = "0.0.0.0:8200"
  tls_disable = true
}
storage "sqlite" {
  path = "/var/lib/keywright"
}
