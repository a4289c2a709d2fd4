/** Texts that have broken stores, templates and parsers. Each must be stored unchanged. */
export const hostileTexts = {
  'a field reference of a store': '$CustomerTaxId',
  'a variable of a store': '$$NOW',
  'an operator of a store': '{"$set":{"a":1}}',
  dots: 'a.b..c',
  'control characters': 'a\u0001\u001f\u007fb',
  SQL: "'; DROP TABLE state; --",
  markup: '<script>alert("x")</script> & <b>',
  'unicode beyond the first plane': '𝒜𝓭𝓪 👩‍🚀 é \u202e\u2028',
  'property names of objects': '__proto__',
  'quotes and backslashes': '\\"\\\\u0041\n\t',
  'a key separator of Dapr': 'a||b',
  'blanks around it': '  x  ',
}
