import { createTrust, type Trust } from '../../src/trust/trust.ts'

/** Accepts all publishers, for tests of other components. */
export const openTrust: Trust = createTrust({
  publishers: { outside: { orderevents: [], paymentevents: [] }, services: {} },
  file: { unlisted: 'accept', publishers: {} },
  signer: undefined,
  signedSince: Number.NEGATIVE_INFINITY,
})
