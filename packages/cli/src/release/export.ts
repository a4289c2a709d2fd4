import { join, relative } from 'node:path'
import { repository } from '../lib/paths.ts'
import type { Service } from '../lib/services.ts'
import { configVarsFile, gatherConfigVars } from './gather.ts'
import { readTarget, type Target } from './operator.ts'
import type { Output } from './output.ts'
import { releaseFolder, shown, writePrivate } from './record.ts'

/**
 * `./orderflow export NAME`: writes the config vars and the manual steps of a release, and says what is to be filled
 * in.
 */
export async function exportService(service: Service, env: NodeJS.ProcessEnv, out: Output): Promise<void> {
  const target = readTarget(env)
  const { vars, problems } = await gatherConfigVars(service, env, out)
  const varsFile = configVarsFile(service, env)
  const stepsFile = join(releaseFolder(env), service.name, 'instructions.md')
  writePrivate(varsFile, `${JSON.stringify(vars, null, 2)}\n`)
  writePrivate(stepsFile, instructions({ service, target, configVarsFile: varsFile }))
  out.print(`${shown(varsFile)}    ${Object.keys(vars).length} config vars, secrets among them: for your eyes only`)
  out.print(`${shown(stepsFile)}    the steps of a release by hand`)
  out.print()
  if (problems.length > 0) {
    out.print(`To be filled in, in ${shown(varsFile)} or as environment variables:`)
    for (const problem of problems) out.print(`  - ${problem}`)
    out.print()
  }
  out.print(`next: ./orderflow release ${service.role} --app name-of-your-app --dry-run`)
}

interface InstructionsOptions {
  service: Service
  target: Target
  configVarsFile: string
}

/**
 * The steps of a release by hand, for `curl` and `docker`. `<app_name>` and `<ACCESS_TOKEN>` are the two tags to replace; the
 * token is read from standard input everywhere, so that no process list shows it.
 */
function instructions({ service, target, configVarsFile }: InstructionsOptions): string {
  const { apiUrl, platform, registry } = target
  const vars = relative(repository, configVarsFile)
  const image = `${registry}/<app_name>/web`
  const accept = (variant = '') => `-H 'Accept: application/vnd.${platform}+json; version=3${variant}'`
  const call = (method: string, path: string, ...options: string[]) =>
    withToken(`curl -sSf -X ${method} ${apiUrl}/apps/<app_name>${path}`, '-H @-', ...options)

  return `# Releasing ${service.name} by hand

\`./orderflow release ${service.role} --app <app_name>\` does all of this in one step, checks it, and can be undone.

In this file replace \`<app_name>\` by the name of the app and \`<ACCESS_TOKEN>\` by a token of the platform's API. Run the commands
in the repository's folder, and remove the file afterwards: it holds the token then. Every service needs an app of its own, whose
stack must be \`container\`.

## 1. Set the config vars

${call('PATCH', '/config-vars', "-H 'Content-Type: application/json'", accept(), `-d '@${vars}'`, '-o /dev/null')}

## 2. Log in to the registry

${withLine(`docker login --username=_ --password-stdin ${registry}`, '<ACCESS_TOKEN>')}

## 3. Build and push the image of process type web

\`\`\`sh
image_id=$(BUILDX_NO_DEFAULT_ATTESTATIONS=1 docker build --quiet --platform linux/amd64 --build-arg SERVICE=${service.folder} --target release -t ${image} .)
docker push ${image}
\`\`\`

## 4. Release it

The platform wants the digest of the image's configuration, which is in the registry's manifest. It is the image's id here, unless somebody else
pushed to the app meanwhile; then begin again at step 3:

\`\`\`sh
docker_image=$(curl -sSf https://${registry}/v2/<app_name>/web/manifests/latest -K - \\
  -H 'Accept: application/vnd.docker.distribution.manifest.v2+json' <<'END' \\
  | tr -d '[:space:]' | sed 's/.*"config":{[^}]*"digest":"\\([^"]*\\)".*/\\1/'
user = "_:<ACCESS_TOKEN>"
END
)
[ "$docker_image" = "$image_id" ] || echo "error: the registry has $docker_image, and you built $image_id: begin again at step 3" >&2
\`\`\`

${call('PATCH', '/formation', "-H 'Content-Type: application/json'", accept('.docker-releases'), `-d '{"updates":[{"type":"web","docker_image":"'"$docker_image"'"}]}'`)}

## 5. Look after it

List the processes; stop \`web.1\`, which the platform may start again by itself (\`"quantity":0\` in the command after it stops it
for good); start it; and see where the app is (\`web_url\`):

${call('GET', '/dynos', accept())}

${call('POST', '/dynos/web.1/actions/stop', accept())}

${call('PATCH', '/formation', "-H 'Content-Type: application/json'", accept(), `-d '{"updates":[{"type":"web","quantity":${service.replicas}}]}'`)}

${call('GET', '', accept())}

The log is at the \`logplex_url\` of the answer, for a few minutes; read it without the token:

${call('POST', '/log-sessions', "-H 'Content-Type: application/json'", accept(), `-d '{"dyno":"web.1","lines":100,"tail":true}'`)}
`
}

/** A command that reads the Authorization header from its standard input. */
function withToken(command: string, ...options: string[]): string {
  return withLine([command, ...options].join(' \\\n  '), 'Authorization: Bearer <ACCESS_TOKEN>')
}

function withLine(command: string, line: string): string {
  return ['```sh', `${command} <<'END'`, line, 'END', '```'].join('\n')
}
