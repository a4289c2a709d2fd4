import { amountFlaw, type Currency } from '@orderflow/envelope-schema'
import type { NarrowRule } from './model.ts'

/** What a request may set as an amount. An event may also have 0. */
export const amountRule = ({ code, decimals }: Currency): NarrowRule => ({
  schema: {
    minimum: 10 ** -decimals,
    description: `An amount in ${code}: greater than 0, with at most ${decimals} decimals.`,
    'x-decimals': decimals,
  },
  flaw(value) {
    if (typeof value !== 'number') return undefined
    return value > 0 ? amountFlaw(value, { code, decimals }) : 'must be greater than 0'
  },
})
