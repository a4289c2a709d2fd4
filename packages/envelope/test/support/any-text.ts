import fc from 'fast-check'

/** Generates any Unicode text. fast-check's own `unit: 'binary'` takes 1.5 seconds to create. */
export const anyText = (maxLength = 10): fc.Arbitrary<string> =>
  fc
    .array(
      fc.oneof(
        fc.integer({ min: 0, max: 0xff }),
        fc.integer({ min: 0, max: 0xd7ff }),
        fc.integer({ min: 0xe000, max: 0x10ffff }),
      ),
      { maxLength },
    )
    .map((codePoints) => String.fromCodePoint(...codePoints))
