/** A GUID as the contract has it (envelope-schema/schemas/common.json), in either case. */
export const guid = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/
