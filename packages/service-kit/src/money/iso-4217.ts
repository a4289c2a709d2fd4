/*
 * The currencies of ISO 4217 by their number of decimals: list one of 2024-06-25, and XCG, which replaced ANG on 2025-03-31.
 *
 * The table is data of this repository, because Node's own table follows CLDR. It counts the decimals of cash (HUF has none), and changes with Node.
 * Codes without decimals in ISO 4217 are left out, such as gold (XAU) and the code for tests (XTS).
 */

const current: Record<number, string> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  2: `AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUC CUP
    CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR
    LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR
    SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG`,
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
}

/** Withdrawn codes, with which an installation may have stored amounts. */
const withdrawn: Record<number, string> = { 2: 'HRK SLL ZWL' }

/** The number of decimals by currency code, in alphabetical order. A code stays in the table for ever, because a rebuild reads old amounts. */
export const decimalsByCode: ReadonlyMap<string, number> = new Map(
  [current, withdrawn]
    .flatMap((table) => Object.entries(table))
    .flatMap(([decimals, codes]) => codes.split(/\s+/).map((code) => [code, Number(decimals)] as const))
    .sort(([one], [other]) => (one < other ? -1 : 1)),
)
