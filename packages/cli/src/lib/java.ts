import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The `java` of JAVA_HOME when there is one (Maven follows the same variable), else the one of PATH. */
export function javaCommand(env: NodeJS.ProcessEnv = process.env): string {
  const atHome = join(env.JAVA_HOME ?? '', 'bin/java')
  return env.JAVA_HOME && existsSync(atHome) ? atHome : 'java'
}
