module github.com/cert-manager/cert-manager/modelyard

go 1.25.0

require github.com/cert-manager/cert-manager v1.19.4
