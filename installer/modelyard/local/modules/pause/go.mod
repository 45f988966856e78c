module modelyard/local/pause

go 1.25
