// What is done with the key pairs themselves, besides signing and encrypting with them.
import { csrEndpoint } from './csr-endpoint.ts'
import { deriveKeyEndpoint } from './derive-key-endpoint.ts'
import { setCertificateEndpoint } from './set-certificate-endpoint.ts'

export const KEYPAIR_ENDPOINTS = [csrEndpoint, setCertificateEndpoint, deriveKeyEndpoint]
