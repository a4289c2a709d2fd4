import { application } from '@orderflow/stack'

/** Returns the command that follows the start of a stack. */
export const nextCommand = ({ demo }: Pick<typeof application, 'demo'> = application): string =>
  demo ? 'make demo' : 'make status'
