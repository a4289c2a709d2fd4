// The cases of rules.yml for `semgrep scan --test`. This code never runs.
// ruleid: shell
exec(`ls ${folder}`)
// ruleid: shell
spawn('ls', [folder], { cwd: '/', shell: true })
// ok: shell
execFile('ls', [folder], { cwd: '/' })
// ruleid: code-from-text
eval(text)
// ruleid: code-from-text
new Function(text)
// ok: code-from-text
JSON.parse(text)
// ruleid: tls-without-a-check
connect({ host, rejectUnauthorized: false })
// ok: tls-without-a-check
connect({ host, ca })
// ruleid: weak-hash
createHash('md5').update(text)
// ok: weak-hash
createHash('sha256').update(text)
// ruleid: guessable-secret
const secret = Math.random()
// ok: guessable-secret
const better = randomBytes(32)
// ruleid: secret-compared-by-letters
if (request.token === expected) allow()
// ok: secret-compared-by-letters
if (timingSafeEqual(request.token, expected)) allow()
// ruleid: route-past-the-scopes
const app = express()
// ok: route-past-the-scopes
const operation = route({ scope: 'orders:read' })
// ruleid: markup-from-text
element.innerHTML = text
// ok: markup-from-text
element.textContent = text
// ruleid: body-in-the-log
log.info({ at: 1, body: request.body }, 'taken')
// ok: body-in-the-log
log.info({ orderId }, 'taken')
function show(request, response) {
  // ruleid: path-from-a-request
  response.sendFile(request.params.name)
  // ok: path-from-a-request
  response.sendFile('index.html')
}
