import { createTrust, type Trust } from '../../src/trust/trust.ts'

/** Takes in whatever anybody says, for tests of something else. */
export const openTrust: Trust = createTrust({
  publishers: { outside: ['orderevents', 'paymentevents'], services: {} },
  file: { unlisted: 'accept', publishers: {} },
  signer: undefined,
  signedSince: Number.NEGATIVE_INFINITY,
})
