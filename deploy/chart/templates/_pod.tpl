{{- define "caviardage.container" -}}
name: proxy
image: {{ .Values.image | quote }}
imagePullPolicy: {{ .Values.pullPolicy }}
env:
  - {name: CAVIARDAGE_UPSTREAM, value: {{ .Values.upstream | quote }}}
  - {name: CAVIARDAGE_WORKERS, value: {{ .Values.workers | quote }}}
  - {name: CAVIARDAGE_DRAIN_TIMEOUT, value: {{ .Values.drainSeconds | quote }}}
  - {name: CAVIARDAGE_AUDIT, value: "-"}
  {{- if eq .Values.pattern "sidecar" }}
  - {name: CAVIARDAGE_HOST, value: "127.0.0.1"}
  {{- end }}
  {{- if .Values.policy }}
  - {name: CAVIARDAGE_POLICY, value: /etc/caviardage/policy.yaml}
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
  {{- end }}
{{- if eq .Values.pattern "gateway" }}
ports:
  - {name: http, containerPort: 8484}
{{- end }}
startupProbe:
  {{- include "caviardage.probe" (dict "path" "/healthz" "pattern" .Values.pattern) | nindent 2 }}
  periodSeconds: 3
  failureThreshold: 60
livenessProbe:
  {{- include "caviardage.probe" (dict "path" "/healthz" "pattern" .Values.pattern) | nindent 2 }}
  periodSeconds: 10
  timeoutSeconds: 5
readinessProbe:
  {{- include "caviardage.probe" (dict "path" "/readyz" "pattern" .Values.pattern) | nindent 2 }}
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
{{- end }}

{{- /* On loopback the kubelet cannot ask for itself. */ -}}
{{- define "caviardage.probe" -}}
{{- if eq .pattern "sidecar" -}}
exec:
  command: ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8484{{ .path }}', timeout=4)"]
{{- else -}}
httpGet: {path: {{ .path }}, port: http}
{{- end }}
{{- end }}

{{- define "caviardage.volumes" -}}
- {name: shm, emptyDir: {medium: Memory, sizeLimit: 64Mi}}
{{- if .Values.policy }}
- {name: policy, configMap: {name: {{ .Release.Name }}-policy}}
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
