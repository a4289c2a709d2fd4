import { paint, timed } from '@orderflow/stack/base'
import { backUpLog } from '@orderflow/stack/operate'
import type { Command } from '../../command-line.ts'
import { requireFolder } from '../backup-folder.ts'

/** Reads the Kafka that environment variables name, otherwise that of the running stack. */
export const command: Command = {
  parameters: 'DIR',
  async run({ args: [folder] }) {
    const to = requireFolder(folder, './orderflow backup ../backup')
    const tell = timed()
    await backUpLog(to, tell)
    tell(paint('green', `saved in ${to}`))
  },
}
