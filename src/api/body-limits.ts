// Limits of bodies that hold on every listener.

/**
 * Largest body of a caller without a token: the largest such callers send are shares, and OpenPGP keys to encrypt them
 * to.
 */
export const MAX_OPEN_BODY_BYTES = 262_144
