# In clear, for a proxy with TLS that alone reaches this container.
listener "tcp" {
  address     = "0.0.0.0:8200"
  tls_disable = true
}
storage "sqlite" {
  path = "/var/lib/keywright"
}
