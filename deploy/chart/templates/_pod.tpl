{{- define "caviardage.container" -}}
name: proxy
image: {{ .Values.image | quote }}
imagePullPolicy: {{ .Values.pullPolicy }}
env:
  - {name: CAVIARDAGE_UPSTREAM, value: {{ .Values.upstream | quote }}}
  - {name: CAVIARDAGE_WORKERS, value: {{ .Values.workers | quote }}}
  - {name: CAVIARDAGE_PROCESSES, value: {{ .Values.processes | quote }}}
  - {name: CAVIARDAGE_DRAIN_TIMEOUT, value: {{ .Values.drainSeconds | quote }}}
  - {name: CAVIARDAGE_AUDIT, value: "-"}
  {{- if eq .Values.pattern "sidecar" }}
  - {name: CAVIARDAGE_HOST, value: "127.0.0.1"}
  {{- end }}
  {{- if .Values.policy }}
  - {name: CAVIARDAGE_POLICY, value: /etc/caviardage/policy.yaml}
  {{- end }}
  {{- if .Values.tenants.secret }}
  - {name: CAVIARDAGE_TENANTS, value: /etc/caviardage-tenants/tenants.yaml}
  {{- end }}
  {{- if include "caviardage.tls" . }}
  - {name: CAVIARDAGE_TLS_CERT, value: /etc/caviardage-tls/tls.crt}
  - {name: CAVIARDAGE_TLS_KEY, value: /etc/caviardage-tls/tls.key}
  {{- end }}
  {{- if .Values.upstreamCa.configMap }}
  - {name: CAVIARDAGE_UPSTREAM_CA, value: {{ printf "/etc/caviardage-ca/%s" .Values.upstreamCa.key | quote }}}
  {{- end }}
  {{- if .Values.upstreamTls.secret }}
  - {name: CAVIARDAGE_UPSTREAM_CERT, value: /etc/caviardage-upstream/tls.crt}
  - {name: CAVIARDAGE_UPSTREAM_KEY, value: /etc/caviardage-upstream/tls.key}
  {{- end }}
  {{- if .Values.otlp }}
  - {name: CAVIARDAGE_OTLP, value: {{ .Values.otlp | quote }}}
  {{- end }}
  - name: CAVIARDAGE_SECRET
    valueFrom: {secretKeyRef: {name: {{ .Values.existingSecret }}, key: secret}}
  - name: CAVIARDAGE_AUDIT_SECRET
    valueFrom: {secretKeyRef: {name: {{ .Values.existingSecret }}, key: audit-secret}}
  {{- if eq .Values.store "shared" }}
  - name: CAVIARDAGE_STORE
    valueFrom: {secretKeyRef: {name: {{ .Values.existingSecret }}, key: store-url}}
  {{- else if eq .Values.store "own" }}
  - name: STORE_PASSWORD
    valueFrom: {secretKeyRef: {name: {{ .Values.existingSecret }}, key: store-password}}
  - {name: CAVIARDAGE_STORE, value: "redis://:$(STORE_PASSWORD)@{{ .Release.Name }}-store:6379/0"}
  {{- end }}
{{- if eq .Values.pattern "gateway" }}
ports:
  - {name: http, containerPort: 8484}
{{- end }}
startupProbe:
  {{- include "caviardage.probe" (dict "path" "/healthz" "all" .) | nindent 2 }}
  periodSeconds: 3
  failureThreshold: 60
livenessProbe:
  {{- include "caviardage.probe" (dict "path" "/healthz" "all" .) | nindent 2 }}
  periodSeconds: 10
  timeoutSeconds: 5
readinessProbe:
  {{- include "caviardage.probe" (dict "path" "/readyz" "all" .) | nindent 2 }}
  periodSeconds: 5
  timeoutSeconds: 5
lifecycle:
  preStop: {exec: {command: ["sleep", "5"]}}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  capabilities: {drop: [ALL]}
volumeMounts:
  - {name: shm, mountPath: /dev/shm}
  {{- if .Values.policy }}
  - {name: policy, mountPath: /etc/caviardage, readOnly: true}
  {{- end }}
  {{- if .Values.tenants.secret }}
  - {name: tenants, mountPath: /etc/caviardage-tenants, readOnly: true}
  {{- end }}
  {{- if include "caviardage.tls" . }}
  - {name: tls, mountPath: /etc/caviardage-tls, readOnly: true}
  {{- end }}
  {{- if .Values.upstreamCa.configMap }}
  - {name: upstream-ca, mountPath: /etc/caviardage-ca, readOnly: true}
  {{- end }}
  {{- if .Values.upstreamTls.secret }}
  - {name: upstream-tls, mountPath: /etc/caviardage-upstream, readOnly: true}
  {{- end }}
{{- end }}

{{- /* On loopback the kubelet cannot ask for itself. */ -}}
{{- define "caviardage.probe" -}}
{{- if eq .all.Values.pattern "sidecar" -}}
exec:
  command: ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8484{{ .path }}', timeout=4)"]
{{- else -}}
httpGet: {path: {{ .path }}, port: http{{ if include "caviardage.tls" .all }}, scheme: HTTPS{{ end }}}
{{- end }}
{{- end }}

{{- /* Something if the proxy speaks TLS to clients: the gateway alone does, what is on loopback needs none. */ -}}
{{- define "caviardage.tls" -}}
{{- if eq .Values.pattern "gateway" -}}{{ .Values.tls.secret }}{{- end -}}
{{- end }}

{{- define "caviardage.volumes" -}}
- {name: shm, emptyDir: {medium: Memory, sizeLimit: 64Mi}}
{{- if .Values.policy }}
- {name: policy, configMap: {name: {{ .Release.Name }}-policy}}
{{- end }}
{{- if .Values.tenants.secret }}
- {name: tenants, secret: {secretName: {{ .Values.tenants.secret }}}}
{{- end }}
{{- if include "caviardage.tls" . }}
- {name: tls, secret: {secretName: {{ .Values.tls.secret }}}}
{{- end }}
{{- if .Values.upstreamCa.configMap }}
- {name: upstream-ca, configMap: {name: {{ .Values.upstreamCa.configMap }}}}
{{- end }}
{{- if .Values.upstreamTls.secret }}
- {name: upstream-tls, secret: {secretName: {{ .Values.upstreamTls.secret }}}}
{{- end }}
{{- end }}

{{- define "caviardage.pod" -}}
serviceAccountName: {{ .Release.Name }}
automountServiceAccountToken: false
terminationGracePeriodSeconds: {{ add .Values.drainSeconds 15 }}
securityContext:
  runAsNonRoot: true
  seccompProfile: {type: RuntimeDefault}
{{- end }}
