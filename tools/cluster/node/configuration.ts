import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pauseImage } from '../images/names.ts'
import type { Certificates } from './certificates.ts'
import { dnsAddress, podsCidr, serviceCidr } from './network.ts'
import type { Node } from './node.ts'

export const containerdSocket = '/run/containerd/containerd.sock'

/** The parent of all cgroups of the cluster. A node's cgroups are in a folder of this parent. */
export const cgroupName = 'orderflow-cluster'

type NodeFiles = Awaited<ReturnType<Certificates['node']>>

/** Writes the configuration of a node's programs, and returns its files. The programs also read JSON in place of YAML. */
export function writeNodeConfiguration(node: Node, certificates: Certificates, files: NodeFiles) {
  const { folder } = node
  const write = (name: string, content: object | string) => {
    const file = join(folder, name)
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
    return file
  }
  mkdirSync(join(folder, 'cni'), { recursive: true })
  write('cni/10-pods.conflist', podNetwork(node))
  return {
    containerd: write('containerd.toml', containerd(folder)),
    kubelet: write('kubelet.yaml', kubelet(node, certificates, files, write('resolv.conf', 'nameserver 127.0.0.1\n'))),
    proxy: write('kube-proxy.yaml', proxy(node, certificates)),
  }
}

const podNetwork = ({ podCidr }: Node) => ({
  // Debian's plugins support no newer version.
  cniVersion: '0.4.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge: 'cni0',
      isGateway: true,
      ipMasq: false,
      hairpinMode: true,
      ipam: {
        type: 'host-local',
        dataDir: '/run/cni-ipam',
        ranges: [[{ subnet: podCidr }]],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
})

const containerd = (folder: string) => `version = 2
root = "${folder}/containerd"
state = "/run/containerd"
[grpc]
  address = "${containerdSocket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  # A machine without CAP_SYS_RESOURCE cannot lower the value of a process.
  restrict_oom_score_adj = true
  disable_apparmor = true
  disable_hugetlb_controller = true
  tolerate_missing_hugetlb_controller = true
  # Lets programs without root listen on port 53.
  enable_unprivileged_ports = true
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "${folder}/registries"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
`

const kubelet = (node: Node, { ca }: Certificates, { server }: NodeFiles, resolvConf: string) => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: ca.cert } },
  authorization: { mode: 'Webhook' },
  tlsCertFile: server.cert,
  tlsPrivateKeyFile: server.key,
  cgroupDriver: 'cgroupfs',
  cgroupRoot: `/${cgroupName}/${node.name}`,
  // Also accepts machines with version 1 of cgroups.
  failCgroupV1: false,
  failSwapOn: false,
  enforceNodeAllocatable: [],
  clusterDNS: [dnsAddress],
  clusterDomain: 'cluster.local',
  resolvConf,
  containerRuntimeEndpoint: `unix://${containerdSocket}`,
  // Keeps pods and images on a machine whose disk and memory others also use.
  evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
  imageGCHighThresholdPercent: 100,
  imageGCLowThresholdPercent: 99,
  serializeImagePulls: false,
  // The kubelet would otherwise create a folder of this machine.
  volumePluginDir: join(node.folder, 'volume-plugins'),
  // Pods see changes of secrets and config maps sooner than after a minute.
  syncFrequency: '5s',
  // The kubelet notices a full volume sooner than after a minute.
  volumeStatsAggPeriod: '5s',
  nodeStatusUpdateFrequency: '5s',
})

const proxy = (node: Node, { proxy: kubeconfig }: Certificates) => ({
  apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
  kind: 'KubeProxyConfiguration',
  mode: 'iptables',
  clusterCIDR: podsCidr,
  clientConnection: { kubeconfig },
  hostnameOverride: node.name,
  bindAddress: node.address,
  // Keeps the connection limits of the kernel, which apply to the whole machine.
  conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
})

const flags = (values: Record<string, string | number | boolean>) =>
  Object.entries(values).map(([name, value]) => `--${name}=${value}`)

/** Returns the arguments of the control plane's programs. They run in the first node. */
export function controlPlane(folder: string, { address }: Node, certificates: Certificates) {
  const { accounts, apiServer, ca, controllerManager, front, frontClient, kubeletClient, scheduler } = certificates
  const authenticated = (kubeconfig: string) => ({
    kubeconfig,
    'authentication-kubeconfig': kubeconfig,
    'authorization-kubeconfig': kubeconfig,
    'bind-address': '127.0.0.1',
    'leader-elect': false,
  })
  const etcd = 'http://127.0.0.1:2379'
  return {
    etcd: flags({
      'data-dir': join(folder, 'etcd'),
      'listen-client-urls': etcd,
      'advertise-client-urls': etcd,
      // The data ends with the cluster.
      'unsafe-no-fsync': true,
      'log-level': 'warn',
    }),
    'kube-apiserver': flags({
      'etcd-servers': etcd,
      'service-cluster-ip-range': serviceCidr,
      'advertise-address': address,
      'secure-port': 6443,
      'tls-cert-file': apiServer.cert,
      'tls-private-key-file': apiServer.key,
      'client-ca-file': ca.cert,
      'service-account-key-file': accounts.publicKey,
      'service-account-signing-key-file': accounts.key,
      'service-account-issuer': 'https://kubernetes.default.svc.cluster.local',
      'authorization-mode': 'Node,RBAC',
      'enable-admission-plugins': 'NodeRestriction',
      'kubelet-client-certificate': kubeletClient.cert,
      'kubelet-client-key': kubeletClient.key,
      'kubelet-preferred-address-types': 'InternalIP',
      'proxy-client-cert-file': frontClient.cert,
      'proxy-client-key-file': frontClient.key,
      'requestheader-client-ca-file': front.cert,
      'requestheader-allowed-names': 'front-proxy-client',
      'requestheader-extra-headers-prefix': 'X-Remote-Extra-',
      'requestheader-group-headers': 'X-Remote-Group',
      'requestheader-username-headers': 'X-Remote-User',
      'allow-privileged': true,
    }),
    'kube-controller-manager': flags({
      ...authenticated(controllerManager),
      'service-account-private-key-file': accounts.key,
      'root-ca-file': ca.cert,
      'use-service-account-credentials': true,
      'cluster-signing-cert-file': ca.cert,
      'cluster-signing-key-file': ca.key,
      'requestheader-client-ca-file': front.cert,
      'horizontal-pod-autoscaler-sync-period': '5s',
      'enable-hostpath-provisioner': true,
      'flex-volume-plugin-dir': join(folder, 'volume-plugins'),
    }),
    'kube-scheduler': flags(authenticated(scheduler)),
  }
}
