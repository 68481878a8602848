package app_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/berthdev/berth/impl/app"
)

// asOther makes the test binary start a server over that directory as another user, see TestMain.
const asOther = "BERTH_TEST_DATA_OF_OTHER"

// startAsOther starts a server over a directory that it cannot close to others, then over one of its own, and reports what was wrong.
func startAsOther(dir string) error {
	ctx := context.Background()
	_, err := app.Start(ctx, app.Config{Data: dir, Listen: "127.0.0.1:0"})
	want := "and that cannot be changed: chmod 700 it, or give berth a directory of its own, such as " + dir + "/berth-data"
	if err == nil || !strings.Contains(err.Error(), want) {
		return fmt.Errorf("the directory was not refused as it should be: %w", err)
	}
	s, err := app.Start(ctx, app.Config{Data: filepath.Join(dir, "berth-data"), Listen: "127.0.0.1:0"})
	if err != nil {
		return err
	}
	return s.Close()
}
