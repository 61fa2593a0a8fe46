{{- define "probe.name" -}}
{{- default .Chart.Name .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "probe.labels" -}}
app.kubernetes.io/name: {{ include "probe.name" . }}
{{- end -}}

{{- define "probe.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- define "probe.configMap" -}}
{{- default (include "probe.name" .) .Values.existingConfigMap -}}
{{- end -}}

{{- define "probe.secret" -}}
{{- default (include "probe.name" .) .Values.existingSecret -}}
{{- end -}}
