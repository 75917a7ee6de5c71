// What a body may have, whoever reads it.

/** For callers without a token: the largest thing they send are shares, and OpenPGP keys to encrypt them to. */
export const MAX_OPEN_BODY_BYTES = 262_144
