import { join, relative } from 'node:path'
import { repository } from '../application/paths.ts'
import type { Service } from '../application/services.ts'
import { configVarsFile, gatherConfigVars } from './gather.ts'
import type { Output } from './output.ts'
import { readTarget, type Target } from './platform/operator.ts'
import { releaseFolder, shown, writePrivate } from './record.ts'

/** Runs `./orderflow export NAME`: writes config vars and manual steps of a release, and lists missing values. */
export async function exportService(service: Service, env: NodeJS.ProcessEnv, out: Output): Promise<void> {
  const target = readTarget(env)
  const { vars, problems } = await gatherConfigVars(service, env, out)
  const varsFile = configVarsFile(service, env)
  const stepsFile = join(releaseFolder(env), service.name, 'instructions.md')
  writePrivate(varsFile, `${JSON.stringify(vars, null, 2)}\n`)
  writePrivate(stepsFile, instructions({ service, target, configVarsFile: varsFile }))
  out.print(`${shown(varsFile)}    ${Object.keys(vars).length} config vars with secrets: keep this file private`)
  out.print(`${shown(stepsFile)}    the steps of a manual release`)
  out.print()
  if (problems.length > 0) {
    out.print(`Add these values to ${shown(varsFile)}, or set them as environment variables:`)
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

/** Returns the steps of a release with `curl` and `docker`. The commands read the token from standard input, because process lists show arguments. */
function instructions({ service, target, configVarsFile }: InstructionsOptions): string {
  const { apiUrl, platform, registry } = target
  const vars = relative(repository, configVarsFile)
  const image = `${registry}/<app_name>/web`
  const accept = (variant = '') => `-H 'Accept: application/vnd.${platform}+json; version=3${variant}'`
  const call = (method: string, path: string, ...options: string[]) =>
    withToken(`curl -sSf -X ${method} ${apiUrl}/apps/<app_name>${path}`, '-H @-', ...options)

  return `# Manual release of ${service.name}

\`./orderflow release ${service.role} --app <app_name>\` does all of this in one step, checks the result, and can be undone.

Replace \`<app_name>\` in this file by the name of the app, and \`<ACCESS_TOKEN>\` by a token of the platform's API. Run the commands in
the repository's folder. Remove the file afterwards, because it contains the token. Every service needs its own app with the stack
\`container\`.

## 1. Log in to the registry

${withLine(`docker login --username=_ --password-stdin ${registry}`, '<ACCESS_TOKEN>')}

## 2. Build and push the image of process type web

\`\`\`sh
image_id=$(BUILDX_NO_DEFAULT_ATTESTATIONS=1 docker build --quiet --platform linux/amd64 --build-arg SERVICE=${service.folder} --target release -t ${image} .)
docker push ${image}
\`\`\`

## 3. Read the digest

The platform needs the digest of the image's configuration, which is in the registry's manifest. It equals the image's id here. If it differs, another
push to the app came in between: begin again at step 2.

\`\`\`sh
docker_image=$(curl -sSf https://${registry}/v2/<app_name>/web/manifests/latest -K - \\
  -H 'Accept: application/vnd.docker.distribution.manifest.v2+json' <<'END' \\
  | tr -d '[:space:]' | sed 's/.*"config":{[^}]*"digest":"\\([^"]*\\)".*/\\1/'
user = "_:<ACCESS_TOKEN>"
END
)
[ "$docker_image" = "$image_id" ] || echo "error: the registry has $docker_image, but you built $image_id: begin again at step 2" >&2
\`\`\`

## 4. Set the config vars, and release the image immediately

The platform restarts the present image with the new settings, until the second command releases the new image.

${call('PATCH', '/config-vars', "-H 'Content-Type: application/json'", accept(), `-d '@${vars}'`, '-o /dev/null')}

${call('PATCH', '/formation', "-H 'Content-Type: application/json'", accept('.docker-releases'), `-d '{"updates":[{"type":"web","docker_image":"'"$docker_image"'"}]}'`)}

## 5. Operate it

The commands list the processes, stop \`web.1\`, start it, and show the app (\`web_url\` is its address). The platform may restart a stopped
process. Set \`"quantity":0\` in the third command to stop it permanently.

${call('GET', '/dynos', accept())}

${call('POST', '/dynos/web.1/actions/stop', accept())}

${call('PATCH', '/formation', "-H 'Content-Type: application/json'", accept(), `-d '{"updates":[{"type":"web","quantity":${service.replicas}}]}'`)}

${call('GET', '', accept())}

The log is at the \`logplex_url\` of this answer for a few minutes. Read it without the token:

${call('POST', '/log-sessions', "-H 'Content-Type: application/json'", accept(), `-d '{"dyno":"web.1","lines":100,"tail":true}'`)}
`
}

function withToken(command: string, ...options: string[]): string {
  return withLine([command, ...options].join(' \\\n  '), 'Authorization: Bearer <ACCESS_TOKEN>')
}

function withLine(command: string, line: string): string {
  return ['```sh', `${command} <<'END'`, line, 'END', '```'].join('\n')
}
